/* A name as tables and lists have it: long ones go on in the next line (lineParts() says where). */
import { lineParts } from "./words";

export function Name({ of }: { of: string }) {
    return <>{lineParts(of).map((part, i) => (i ? <><wbr />{part}</> : part))}</>;
}
