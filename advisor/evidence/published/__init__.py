"""Published runs: a row of a measurement file as machine, model, request and prediction.

row                 the row as published, and its publisher
predict             interpretation and prediction of a row; start here
machine, model, engines, run_settings    parts of the interpretation
"""
