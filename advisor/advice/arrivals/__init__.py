"""Requests that arrive at random, and how long they wait."""
