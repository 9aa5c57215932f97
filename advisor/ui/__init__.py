"""Dashboard: the only package, with app.py, that imports Streamlit and Plotly.

pages/          scripts of the pages; advise/, runnable/ (Models), find/ (Machines), reports/,
                accuracy/ (How we know) and calibrate/ (Your machine) hold their sections
question/       the visitor's request: its inputs, its place in the address, what was understood
parts/          drawing functions shared by several pages
"""
