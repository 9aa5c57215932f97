"""The dashboard: the only place, with app.py, that knows Streamlit and Plotly.

pages/          page scripts; advise/, calibrate/, reports/, accuracy/ hold their sections
sidebar/        the form
parts/          what several pages draw with
"""
