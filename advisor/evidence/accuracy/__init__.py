"""Accuracy: published measurements compared with predictions that were fitted without them.

Each row is predicted from constants fitted with its whole group left out, one source on one
machine, so that no row is predicted by constants fitted to it. The lab makes the points and the
tables that keep them; `scoring` reads these and sums them up, `text` says them in words.
"""
