#!/usr/bin/env bash
# Views of the page by hand: Workbench (frames, notes, included workflows, families, lights), Plan, Experiments, Database, 100,000 tasks. Speaks TAP.
. tests/support/browser || exit 1
exec node tests/ui/views.mjs
