"""Page scripts, one for each page of the app."""
