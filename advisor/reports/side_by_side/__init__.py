"""Reports side by side: `comparison` of several, `changes` since one, `scenarios` of many."""
