"""Streamlit pages: the only place, with app.py, that knows Streamlit and Plotly."""
