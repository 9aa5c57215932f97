"""Content of a report in words and tables, common to all file formats: `front_page`, `sections`."""
