# For tests that run containers by podman itself, sourced after `work` is made: an image of the tests' own, `weft-test:1` (busybox, no
# registry), and a storage of its own, so that nothing of the machine's podman is touched. Ends the test, skipped, where podman cannot.
# shellcheck shell=bash disable=SC2154 # work is whose test it is
skip() {
    echo "ok 1 - containers by podman # SKIP $1"
    echo "1..1"
    exit 0
}
leave() {
    [ -z "${CONTAINERS_CONF:-}" ] || podman rm -f -a >/dev/null 2>&1
    cd / && rm -rf "$work"
}
trap leave EXIT
command -v podman >/dev/null || skip "podman is not installed"
busybox=$(command -v busybox) || skip "busybox is not installed"
export WEFT_HISTORY=none TMPDIR=$work HOME=$work/home
unset WEFT_CONTAINER TOKEN
mkdir -p "$HOME" "$work/image/bin" "$work/image/tmp" "$work/t"
cp "$busybox" "$work/image/bin/busybox"
for name in sh cat id ls sleep echo env touch wc sort head seq tr printf awk; do ln -s busybox "$work/image/bin/$name"; done
"$work/image/bin/sh" -c true 2>/dev/null || skip "this busybox is not static, or has no sh"
tar -C "$work/image" -cf "$work/image.tar" .
# Nothing of the machine's own podman is touched: a storage and limits of our own (some places let nobody raise a limit).
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf
printf '[storage]\ndriver = "vfs"\nrunroot = "%s"\ngraphroot = "%s"\n' "$work/run" "$work/store" >"$work/storage.conf"
configure() { # runtime
    printf '[containers]\ndefault_ulimits = ["nofile=1000:1000", "nproc=1000:1000"]\n[engine]\nruntime = "%s"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n' "$1" >"$work/containers.conf"
    timeout 60 podman run --rm --network host weft-test:1 /bin/true >/dev/null 2>"$work/why"
}
ln -s busybox "$work/image/bin/true" && tar -C "$work/image" -cf "$work/image.tar" .
printf '[engine]\nevents_logger = "none"\n' >"$work/containers.conf"
timeout 60 podman import -q "$work/image.tar" weft-test:1 >/dev/null 2>"$work/why" || skip "podman cannot import an image: $(tail -n 1 "$work/why")"
configure crun || configure runc || skip "podman cannot run a container here: $(tail -n 1 "$work/why")"

containers() { podman ps -aq | wc -l; }
