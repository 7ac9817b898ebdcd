#!/usr/bin/env bash
# Nothing that somebody asks the page for, or types into it, is dropped in silence; in chromium. Speaks TAP.
. tests/support/browser || exit 1
exec node tests/ui/silence.mjs
