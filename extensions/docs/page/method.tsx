/** GET, POST and the others, each in its colour. */
export const Method = ({ method }: { method: string }) => <span class={`method method-${method.toLowerCase()}`}>{method}</span>;
