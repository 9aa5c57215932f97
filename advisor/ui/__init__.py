"""Dashboard: the only package, with app.py, that imports Streamlit and Plotly.

pages/          scripts of the pages; advise/, find/, runnable/, calibrate/, reports/ and accuracy/
                hold their sections
sidebar/        inputs, and their values in links
parts/          drawing functions shared by several pages
"""
