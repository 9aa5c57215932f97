"""Fit of the frameworks' constants: published `runs`, `parameters`, the `fit` and its `table`."""
