/**
 * What runs in the frame: xterm, which writes style elements, in a document without an origin and without connections.
 * It stands by itself: its text is put into that document.
 */
interface Xterm {
  readonly cols: number;
  readonly rows: number;
  open(parent: HTMLElement): void;
  loadAddon(addon: object): void;
  write(data: string | Uint8Array, done?: () => void): void;
  focus(): void;
  onData(fn: (data: string) => void): void;
  onResize(fn: (size: { cols: number; rows: number }) => void): void;
}

/** The globals that the two libraries make. */
interface Libraries {
  readonly Terminal: new (options: object) => Xterm;
  readonly FitAddon: { readonly FitAddon: new () => { fit(): void } };
}

export const screenCode = (): void => {
  const { Terminal, FitAddon } = globalThis as unknown as Libraries;
  addEventListener('message', ({ data: word, ports: [port] }: MessageEvent) => {
    if (word !== 'port' || !port) return;
    const terminal = new Terminal({ cursorBlink: true, fontSize: 13, scrollback: 5_000, screenReaderMode: true });
    const fit = new FitAddon.FitAddon();
    terminal.loadAddon(fit);
    terminal.open(document.body);
    terminal.onData((data) => port.postMessage({ type: 'input', data }));
    terminal.onResize(({ cols, rows }) => port.postMessage({ type: 'resize', cols, rows }));
    port.onmessage = ({ data: text }: MessageEvent<string | Uint8Array | 'focus'>) => {
      terminal.write(text, () => port.postMessage({ type: 'taken', size: text.length }));
    };
    fit.fit();
    new ResizeObserver(() => fit.fit()).observe(document.body);
    terminal.focus();
    port.postMessage({ type: 'ready', cols: terminal.cols, rows: terminal.rows });
  });
};
