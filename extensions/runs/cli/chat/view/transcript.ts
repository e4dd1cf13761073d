/** What was said and done, as it is drawn: messages, answers in Markdown, tools in a line each. */
import { printable } from '@svc/cli/area';
import { type Component, Container, Markdown, type MarkdownTheme, Spacer, Text } from '@mariozechner/pi-tui';
import type { ChatView } from '../conversation.js';
import type { Colours } from './colours.js';
import { createToolView, type ToolView } from './tool-view.js';

/** Parts that a long conversation keeps drawn; older ones stand in the terminal's own scrollback. */
const MAX_DRAWN = 400;

type Shown = Pick<ChatView, 'said' | 'text' | 'voided' | 'toolBegan' | 'toolEnded' | 'note' | 'failed' | 'answered'>;

export interface Transcript extends Shown {
  readonly drawn: Component;
  /** Shows what went in and came out of tools, or folds it again. */
  unfold(): void;
}

export const createTranscript = (c: Colours, theme: MarkdownTheme, redraw: () => void): Transcript => {
  const drawn = new Container();
  const tools = new Map<string, ToolView>();
  let isUnfolded = false;
  /** The text that the model says now; undefined between texts. */
  let saying: { readonly shown: Markdown; text: string } | undefined;

  const add = (component: Component): void => {
    drawn.addChild(component);
    const [oldest] = drawn.children;
    if (oldest && drawn.children.length > MAX_DRAWN) drawn.removeChild(oldest);
    redraw();
  };
  const line = (text: string): void => {
    saying = undefined;
    add(new Text(text, 0, 0));
  };
  return {
    drawn,
    unfold: () => {
      isUnfolded = !isUnfolded;
      for (const tool of tools.values()) tool.setUnfolded(isUnfolded);
      redraw();
    },
    said: (text, attached) => {
      add(new Spacer(1));
      line(`${c.cyan('>')} ${printable(text)}`);
      for (const file of attached) line(c.dim(`  attached ${printable(file)}`));
      add(new Spacer(1));
    },
    text: (content) => {
      if (!saying) {
        if (content.trim() === '') return;
        saying = { shown: new Markdown('', 0, 0, theme), text: '' };
        add(saying.shown);
      }
      saying.text += printable(content);
      saying.shown.setText(saying.text);
      redraw();
    },
    voided: () => {
      if (saying) drawn.removeChild(saying.shown);
      saying = undefined;
      redraw();
    },
    toolBegan: (id, tool) => {
      saying = undefined;
      const shown = createToolView(c, tool);
      shown.setUnfolded(isUnfolded);
      tools.set(id, shown);
      add(shown);
    },
    toolEnded: (id, call) => {
      tools.get(id)?.ended(call);
      redraw();
    },
    note: (text) => line(c.dim(`  ${printable(text)}`)),
    failed: (text, fix) => line(`${c.red('Error')}  ${printable(text)}${fix === undefined ? '' : `\n  fix   ${c.cyan(fix)}`}`),
    answered: (figures) => {
      saying = undefined;
      if (figures !== undefined) line(c.dim(`  ${figures}`));
    },
  };
};
