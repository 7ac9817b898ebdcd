/* One of several, then a button: whoever walks through a list with the arrows has not chosen yet. */
import { useRef } from "preact/hooks";

export function Choose({ label, first, options, verb, act }: {
    label: string;
    first: string; /* what stands there until something is chosen */
    options: { value: string; text: string }[];
    verb: string;
    act: (value: string) => void;
}) {
    const select = useRef<HTMLSelectElement>(null);
    const take = () => {
        const value = select.current!.value;
        if (!value) return select.current!.focus();
        select.current!.value = "";
        act(value);
    };
    return (
        <span class="choose">
            <select ref={select} aria-label={label} onKeyDown={(event) => event.key === "Enter" && (event.preventDefault(), take())}>
                <option value="">{first}</option>
                {options.map((o) => <option key={o.value} value={o.value}>{o.text}</option>)}
            </select>
            <button type="button" aria-label={`${verb}: ${label}`} onClick={take}>{verb}</button>
        </span>
    );
}
