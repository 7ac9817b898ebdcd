#!/usr/bin/env bash
# The page's server is killed while somebody edits: the file is whole, and at most the last second is lost. Speaks TAP.
. tests/support/browser || exit 1
exec node tests/ui/kill.mjs
