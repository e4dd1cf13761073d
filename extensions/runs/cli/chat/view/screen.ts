/** The conversation on a terminal: what was said above, what is typed below, at any width. */
import { printable } from '@svc/cli/area';
import type { AgentRow } from '@svc/ext-agents/cli';
import { type Component, Container, Editor, getKeybindings, matchesKey, ProcessTerminal, SelectList, Spacer, type Terminal, Text, TruncatedText, TUI } from '@mariozechner/pi-tui';
import type { ChatView, Choice } from '../conversation.js';
import { type Completion, createCompletion, type CompletionDeps } from '../completion.js';
import type { ChatHistory } from '../history.js';
import type { Colours } from './colours.js';
import { editorTheme, markdownTheme, selectTheme } from './themes.js';
import { createTranscript, type Transcript } from './transcript.js';
import { createWaitingLine } from './waiting-line.js';

const MAX_OFFERED = 8;
export interface ScreenDeps extends CompletionDeps {
  readonly colours: Colours;
  readonly history: ChatHistory;
  readonly now: () => number;
  readonly onSubmit: (text: string) => void;
  /** Ctrl-C; whatever was typed is there. */
  readonly onInterrupt: (typed: string) => void;
  readonly onLeave: () => void;
  readonly terminal?: Terminal;
}

export interface Screen {
  readonly view: ChatView;
  /** Takes away what is typed. */
  clearTyped(): void;
  start(): void;
  stop(): Promise<void>;
}

export const createScreen = (deps: ScreenDeps, agent: AgentRow): Screen => {
  const { colours: c } = deps;
  const terminal = deps.terminal ?? new ProcessTerminal();
  const tui = new TUI(terminal);
  const redraw = (): void => tui.requestRender();
  getKeybindings().setUserBindings({ 'tui.input.newLine': ['shift+enter', 'alt+enter', 'ctrl+j'] });

  const head = new Text('', 0, 0);
  const queued = new Container();
  const waiting = createWaitingLine(c, deps.now, redraw);
  const editor = new Editor(tui, editorTheme(c), { paddingX: 1, autocompleteMaxVisible: MAX_OFFERED });
  const below = new Container();
  const foot = new Text('', 0, 0);
  const transcript = createTranscript(
    c,
    markdownTheme(c, () => {
      // What was drawn from what is kept is drawn anew.
      tui.invalidate();
      redraw();
    }),
    redraw,
  );
  const setHead = ({ name, model_provider, model_name }: AgentRow): void => {
    head.setText(`${c.bold(printable(name))}  ${c.dim(`${printable(model_provider)} / ${printable(model_name)}`)}`);
    foot.setText(c.dim(`  you → ${printable(name)}   / commands · @ files · Ctrl-O unfolds tools · Ctrl-C stops`));
  };

  const completion = createCompletion(deps);
  editor.setAutocompleteProvider(completion);
  for (const entry of deps.history.entries) editor.addToHistory(entry);
  editor.onSubmit = (text) => {
    editor.setText('');
    editor.addToHistory(text);
    deps.onSubmit(text);
  };
  listenToKeys(tui, deps, editor, transcript, completion);
  for (const part of [head, transcript.drawn, new Spacer(1), waiting, queued, below, foot]) tui.addChild(part);
  below.addChild(editor);
  tui.setFocus(editor);
  setHead(agent);

  const view: ChatView = {
    ...transcript,
    waiting: (what) => waiting.show(what === undefined ? undefined : printable(what)),
    queued: (texts) => {
      queued.clear();
      for (const text of texts) queued.addChild(new TruncatedText(c.dim(`  next  ${printable(text).replace(/\s+/g, ' ')}`), 0, 0));
      redraw();
    },
    restore: (text) => {
      const typed = editor.getText();
      editor.setText(typed === '' ? text : `${text}\n${typed}`);
      redraw();
    },
    choose: (question, choices) => choose(tui, c, below, editor, question, choices),
    chatsWith: (next) => {
      setHead(next);
      transcript.note(`you now chat with ${next.name} now`);
    },
  };
  return {
    view,
    clearTyped: () => {
      editor.setText('');
      redraw();
    },
    start: () => tui.start(),
    stop: async () => {
      waiting.show(undefined);
      await terminal.drainInput();
      tui.stop();
    },
  };
};

const listenToKeys = (tui: TUI, deps: ScreenDeps, editor: Editor, transcript: Transcript, completion: Completion): void => {
  tui.addInputListener((data) => {
    const keys = getKeybindings();
    // An offer for what stood there before is closed, so that the key means what it means without one.
    if ((keys.matches(data, 'tui.select.confirm') || keys.matches(data, 'tui.input.tab')) && isStale(editor, completion)) editor.setAutocompleteProvider(completion);
    if (matchesKey(data, 'ctrl+c')) deps.onInterrupt(editor.getText());
    else if (matchesKey(data, 'ctrl+d') && editor.getText() === '') deps.onLeave();
    else if (matchesKey(data, 'ctrl+o')) transcript.unfold();
    else return undefined;
    return { consume: true };
  });
};

const isStale = (editor: Editor, { offeredFor }: Completion): boolean => {
  const { line, col } = editor.getCursor();
  return editor.isShowingAutocomplete() && editor.getLines()[line]?.slice(0, col) !== offeredFor;
};

/** A question takes the place of what is typed, and gives it back. */
const choose = (tui: TUI, c: Colours, below: Container, editor: Editor, question: string, choices: readonly Choice[]): Promise<string | undefined> =>
  new Promise((resolve) => {
    const items = choices.map(({ value, label, hint }) => ({ value, label, ...(hint === undefined ? {} : { description: hint }) }));
    const list = new SelectList(items, items.length, selectTheme(c));
    const show = (parts: readonly Component[], focused: Component): void => {
      below.clear();
      for (const part of parts) below.addChild(part);
      tui.setFocus(focused);
      tui.requestRender();
    };
    const done = (value: string | undefined): void => {
      show([editor], editor);
      resolve(value);
    };
    list.onSelect = ({ value }) => done(value);
    list.onCancel = () => done(undefined);
    show([new Text(printable(question), 0, 0), list], list);
  });
