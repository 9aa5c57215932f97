"""Report document: one comparison as plain data, readable by later versions.

document, parts     the document and its records; `field_types` checks what is read
from_advice         document of an answer
measured            a measured result beside the prediction
words               words for the keys in a document
"""
