"""Evidence: published measurements, and what follows from them.

published/      rows of measurement files as predictions
accuracy/       predictions beside measurements, each made without its group, as the lab kept them
claims/         claims of articles, checked with numbers
"""
