/* What a file holds, small: a picture (also PGM, PPM and PBM, which browsers do not know), or the beginning of a text. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export const isPicture = (name: string) => /\.(png|jpe?g|gif|webp|svg|pgm|ppm|pnm|pbm)$/i.test(name);
const address = (path: string) => `/api/file?path=${encodeURIComponent(path)}`;

/* The pixels of a netpbm file as RGBA; null: it is none. */
export function netpbm(bytes: Uint8Array): ImageData | null {
    let at = 0;
    const word = (): string => {
        for (;;) {
            while (at < bytes.length && bytes[at] <= 32) at++;
            if (bytes[at] !== 35) break; /* # begins a comment */
            while (at < bytes.length && bytes[at] !== 10) at++;
        }
        let text = "";
        if (at === bytes.length) at++; /* nothing is left */
        while (at < bytes.length && bytes[at] > 32) text += String.fromCharCode(bytes[at++]);
        return text;
    };
    const kind = word(), width = Number(word()), height = Number(word());
    if (!/^P[1-6]$/.test(kind) || !(width > 0 && height > 0 && width * height <= 1 << 26)) return null;
    const bits = kind === "P1" || kind === "P4", colour = kind === "P3" || kind === "P6", plain = kind < "P4";
    const most = bits ? 1 : Number(word()) || 255;
    if (!plain) at++; /* one blank, then bytes */
    const image = new ImageData(width, height);
    const sample = (): number => {
        if (kind === "P1") {
            /* bits may stand without blanks between them */
            while (at < bytes.length && bytes[at] !== 48 && bytes[at] !== 49) at++;
            return bytes[at++] === 49 ? 255 : 0;
        }
        if (plain) return (Number(word()) / most) * 255;
        const value = most > 255 ? (bytes[at++] << 8) | bytes[at++] : bytes[at++];
        return (value / most) * 255;
    };
    for (let i = 0; i < width * height; i++) {
        let r: number, g: number, b: number;
        if (kind === "P4") {
            const x = i % width, byte = bytes[at + Math.floor(i / width) * Math.ceil(width / 8) + (x >> 3)];
            r = g = b = (byte >> (7 - (x & 7))) & 1 ? 0 : 255;
        } else if (colour) (r = sample()), (g = sample()), (b = sample());
        else r = g = b = bits ? 255 - sample() : sample();
        image.data.set([r, g, b, 255], 4 * i);
    }
    if (kind === "P4") at += height * Math.ceil(width / 8);
    return at > bytes.length ? null : image; /* of one that is cut the rest would be black, as if it were so */
}

export function Netpbm({ src, label }: { src: string; label: string }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const problem = useSignal("");
    useEffect(() => {
        let current = true;
        fetch(src).then(async (response) => {
            const image = response.ok ? netpbm(new Uint8Array(await response.arrayBuffer())) : null;
            if (!current || !canvas.current) return;
            if (!image) return void (problem.value = response.ok ? "not a picture, or only the beginning of one" : response.status === 413 ? "too large to be shown" : "not there yet");
            canvas.current.width = image.width;
            canvas.current.height = image.height;
            canvas.current.getContext("2d")!.putImageData(image, 0, 0);
        });
        return () => void (current = false);
    }, [src]);
    return problem.value ? <p class="soft">{problem.value}</p> : <canvas ref={canvas} role="img" aria-label={label} />;
}

function Text({ path }: { path: string }) {
    const text = useSignal("…");
    useEffect(() => {
        let current = true;
        fetch(address(path)).then(async (response) => {
            const whole = response.ok ? await response.text() : "not there yet";
            if (current) text.value = whole.length > 20000 ? `${whole.slice(0, 20000)}\n… and ${whole.length - 20000} letters more` : whole;
        });
        return () => void (current = false);
    }, [path]);
    /* wide ones are made small, so that a picture of letters is seen whole; what is narrow is read */
    const widest = Math.max(1, ...text.value.split("\n").map((line) => line.length));
    return <pre tabIndex={0} ref={(pre) => void (pre && (pre.style.fontSize = `${Math.min(12.5, Math.max(5, (pre.clientWidth || 230) / (0.61 * widest)))}px`))}>{text.value}</pre>;
}

export function Result({ path, label }: { path: string; label: string }) {
    if (/\.(pgm|ppm|pnm|pbm)$/i.test(path)) return <Netpbm src={address(path)} label={label} />;
    if (isPicture(path)) return <img src={address(path)} alt={label} loading="lazy" />;
    return <Text path={path} />;
}
