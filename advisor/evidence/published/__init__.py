"""Published runs: a row of a measurement file as machine, model, request and prediction.

row, sources        the row as published, and its publisher
predict             interpretation and prediction of a row; start here
machine, gpus, model, engines, batch, run_notes, run_settings     parts of the interpretation
doubts              rows that are physically impossible
"""
