"""Edits: the same question with one thing changed.

edit            an edit, and its answer: placed anew, timed anew, or in its fastest placement
changes         what may make the present machine faster, other than a bigger GPU
remarks         other modes of a runtime, beside its command
second_machine  as many machines again by cable

`advice.curves` varies one input over a range, `advice.diagnosis.causes` lists what may be otherwise
than a measurement assumed, `evidence.claims` what a claim would need.
"""
