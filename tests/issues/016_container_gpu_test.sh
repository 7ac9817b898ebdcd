#!/usr/bin/env bash
# Tasks in containers have the GPUs that they hold, as devices of the engine. By stand-ins for podman, docker
# and apptainer, which keep the words that they were given. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work KEPT=$work/words
unset WEFT_CONTAINER_DEVICE
count=0 failed=0
ok() { # status text
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; sed 's/^/# /' "$work/out" "$work/err" "$KEPT" 2>/dev/null | head -n 40; fi
}
mkdir "$work/bin" "$work/p"
for engine in podman docker; do
    cat >"$work/bin/$engine" <<S
#!/bin/sh
case "\$1 \$2" in
"image inspect") echo sha256:0123456789abcdef0123 ;;
"run --rm")
    printf '%s\n' "\$@" >"$KEPT"
    while [ "\$1" != 0123456789abcdef0123 ]; do
        [ "\$1" = --workdir ] && work=\$2
        shift
    done
    shift
    cd "\$work" && exec "\$@"
    ;;
esac
S
done
cat >"$work/bin/apptainer" <<S
#!/bin/sh
printf '%s\n' "\$@" >"$KEPT"
while [ "\${1%.sif}" = "\$1" ]; do
    [ "\$1" = --pwd ] && work=\$2
    shift
done
shift
cd "\$work" && CUDA_VISIBLE_DEVICES=\$APPTAINERENV_CUDA_VISIBLE_DEVICES WEFT_GPU=\$APPTAINERENV_WEFT_GPU exec "\$@"
S
chmod +x "$work"/bin/*
cd "$work/p" || exit 1
touch tools.sif
flow() { # image resources
    printf 'weft: 1\ntasks:\n  t: { run: "echo $WEFT_GPU $CUDA_VISIBLE_DEVICES > {out}", out: o, container: "%s", resources: { %s } }\n' "$1" "$2" >flow.yaml
}
run() { # engine
    WEFT_CONTAINER=$work/bin/$1 "$weft" run -f flow.yaml --resources gpu=4,5,6,licence=2 >"$work/out" 2>"$work/err"
}
has() { # a line and the next
    grep -A1 -x -- "$1" "$KEPT" | grep -qx -- "$2"
}

flow tools:1 "gpu: 2"
run podman && has --device nvidia.com/gpu=4 && grep -qx nvidia.com/gpu=5 "$KEPT" && ! grep -q gpu=6 "$KEPT"
ok $? "podman: each id that the task holds is a device by its CDI name"
[ "$(cat o)" = "4,5 0,1" ]
ok $? "inside they are 0 and 1 to CUDA, and the machine's ids are told, too"
WEFT_CONTAINER_DEVICE='amd.com/gpu={id}' run podman && has --device amd.com/gpu=4 && [ "$(cat o)" = "4,5 4,5" ]
ok $? "WEFT_CONTAINER_DEVICE says what they are elsewhere"
WEFT_CONTAINER_DEVICE=/dev/kfd run podman && has --device /dev/kfd && [ "$(grep -cx -- --device "$KEPT")" = 1 ]
ok $? "a device without an id is given once"
WEFT_CONTAINER_DEVICE=none run podman && ! grep -qx -- --device "$KEPT"
ok $? "none: no device"
flow tools:1 "licence: 1"
run podman && ! grep -qx -- --device "$KEPT"
ok $? "who holds no gpu has no device"
flow tools:1 "gpu: 0.5"
run podman && [ "$(grep -c '^nvidia.com/gpu=' "$KEPT")" = 1 ]
ok $? "a part of one is that device"
flow tools:1 "gpu: 2"
run docker && has --gpus '"device=4,5"' && [ "$(cat o)" = "4,5 0,1" ]
ok $? "docker: its own option"
flow tools.sif "gpu: 1"
run apptainer && grep -qx -- --nv "$KEPT" && [ "$(cat o)" = "4 4" ]
ok $? "apptainer: --nv, and CUDA_VISIBLE_DEVICES as the machine counts"
flow tools.sif "licence: 1"
run apptainer && ! grep -qx -- --nv "$KEPT"
ok $? "and only for who holds one"

echo "1..$count"
exit $failed
