"""Uploaded files: their content is read once, and the server then forgets it."""

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from advisor.errors import InputError


def taken(file: UploadedFile) -> bytes:
    """Bytes of a file, which is dropped from memory.

    Raises:
        InputError: a file that was taken before.
    """
    data = file.getvalue()
    if file.size and not data:
        raise InputError(f"{file.name[:80]!r} was read already and is not kept; choose it again.")
    context = get_script_run_ctx()
    if context is not None:
        files = context.uploaded_file_mgr
        files.remove_file(context.session_id, file.file_id)  # type: ignore[attr-defined]  # of the one in memory, which is the server's
    file.truncate(0)
    return data
