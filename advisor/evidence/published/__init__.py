"""Published runs: a row of a measurement file as machine, model, request and prediction."""
