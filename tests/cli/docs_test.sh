#!/usr/bin/env bash
# The examples in the documentation, run as written.
exec python3 tests/cli/docs_check.py . "$WEFT"
