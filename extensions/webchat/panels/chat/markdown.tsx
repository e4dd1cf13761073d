/**
 * Markdown as elements, without a step through HTML: what a model writes cannot become markup, because nothing here makes
 * markup of text.
 *
 * M1  HTML in it is shown as it was written. Links lead to http, https and mailto, and pictures are links: the page asks nobody else.
 * M2  While it grows, only its end is read and drawn anew.
 * M3  What is too large or too deep to be read is shown as it is.
 */
import { Component, type ComponentChildren, Fragment, type JSX, useEffect, useMemo, useRef, useState } from '@svc/kit';
import type { Token, Tokens } from 'marked';
import { CodeBlock } from './code-block.js';
import { t } from './markdown-words.js';
import { lexed } from './math-tokens.js';

const MAX_CHARS = 300_000;
const MAX_DEPTH = 24;
const LINKED = /^(https?:|mailto:)/i;

const safeHref = (href: string): string | undefined => (LINKED.test(href) && URL.canParse(href) ? href : undefined);

const Link = ({ href, title, children }: { href: string; title?: string | null | undefined; children: ComponentChildren }) => {
  const safe = safeHref(href);
  if (safe === undefined) return <>{children}</>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" title={title ?? undefined}>
      {children}
    </a>
  );
};

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
/** What the lexer escaped for HTML, which this is not. */
const plain = (text: string): string => text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);

const inline = (tokens: readonly Token[] | undefined, depth: number): ComponentChildren =>
  (tokens ?? []).map((token, index) => <Inline key={index} token={token as Tokens.Generic} depth={depth + 1} />); // every token has the fields of the generic one

interface InlineProps {
  readonly token: Tokens.Generic;
  readonly depth: number;
}

/** M2, within a long paragraph: what reads as it did before stays as it was drawn. */
class Inline extends Component<InlineProps> {
  override shouldComponentUpdate({ token }: InlineProps): boolean {
    const before = this.props.token;
    return token.type !== before.type || token.raw !== before.raw || token['href'] !== before['href'];
  }

  override render(): ComponentChildren {
    return drawnInline(this.props);
  }
}

const drawnInline = ({ token, depth }: InlineProps): JSX.Element => {
  if (depth > MAX_DEPTH) return <>{token.raw}</>;
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{inline(token.tokens, depth)}</em>;
    case 'del':
      return <del>{inline(token.tokens, depth)}</del>;
    case 'codespan':
      return <code>{plain(String(token['text']))}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <Link href={String(token['href'])} title={token['title']}>
          {inline(token.tokens, depth)}
        </Link>
      );
    case 'image':
      return <Link href={String(token['href'])}>{token['text'] || String(token['href'])}</Link>;
    case 'math':
      return <Formula tex={String(token['text'])} raw={token.raw} isDisplay={token['isDisplay'] === true} />;
    case 'escape':
      return <>{token['text']}</>;
    case 'text':
      return <>{token.tokens ? inline(token.tokens, depth) : plain(String(token['text']))}</>;
    default:
      return <>{token.raw}</>;
  }
};

const HEADINGS = ['h3', 'h3', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

const Block = ({ token, depth }: { token: Tokens.Generic; depth: number }): JSX.Element | null => {
  if (depth > MAX_DEPTH) return <p>{token.raw}</p>;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      const Heading = HEADINGS[Number(token['depth'])] ?? 'h6';
      // Its size is the author's; its level follows on the heading above the answer.
      return <Heading class={`depth-${token['depth']}`}>{inline(token.tokens, depth)}</Heading>;
    }
    case 'paragraph':
      return <p>{inline(token.tokens, depth)}</p>;
    case 'text':
      return <>{token.tokens ? inline(token.tokens, depth) : plain(String(token['text']))}</>;
    case 'code':
      return <CodeBlock token={token as Tokens.Code} />;
    case 'math':
      return (
        <p>
          <Formula tex={String(token['text'])} raw={token.raw} isDisplay />
        </p>
      );
    case 'blockquote':
      return <blockquote>{blocks(token.tokens, depth)}</blockquote>;
    case 'checkbox':
      return <input type="checkbox" checked={token['checked'] === true} disabled aria-label={token['checked'] === true ? t('task_done') : t('task_open')} />;
    case 'hr':
      return <hr />;
    case 'list':
      return <List list={token as Tokens.List} depth={depth} />;
    case 'table':
      return <TableBlock table={token as Tokens.Table} depth={depth} />;
    default:
      return <p>{token.raw}</p>;
  }
};

const blocks = (tokens: readonly Token[] | undefined, depth: number): ComponentChildren =>
  (tokens ?? []).map((token, index) => <Block key={index} token={token as Tokens.Generic} depth={depth + 1} />); // as above

const List = ({ list, depth }: { list: Tokens.List; depth: number }) => {
  const items = list.items.map((item, index) => (
    <li key={index} class={item.task ? 'task' : undefined}>
      {blocks(item.tokens, depth)}
    </li>
  ));
  return list.ordered ? <ol start={list.start === '' ? undefined : list.start}>{items}</ol> : <ul>{items}</ul>;
};

const TableBlock = ({ table, depth }: { table: Tokens.Table; depth: number }) => (
  <div class="md-table" role="region" aria-label={t('table')} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {table.header.map((cell, index) => (
            <th key={index} scope="col" class={cell.align ?? undefined}>
              {inline(cell.tokens, depth)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, index) => (
              <td key={index} class={cell.align ?? undefined}>
                {inline(cell.tokens, depth)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** As it was written, until what draws it is there, and where that cannot. */
const Formula = ({ tex, raw, isDisplay }: { tex: string; raw: string; isDisplay: boolean }) => {
  const [drawn, setDrawn] = useState<{ tex: string; tree: ComponentChildren }>();
  useEffect(() => {
    let isWanted = true;
    import('./formula.js').then(
      ({ formula }) => isWanted && setDrawn({ tex, tree: formula(tex, isDisplay) }),
      () => undefined, // it can be read as it stands
    );
    return () => {
      isWanted = false;
    };
  }, [tex, isDisplay]);
  if (drawn?.tex !== tex || drawn.tree === undefined) return <code>{raw.trim()}</code>;
  if (!isDisplay) return <span class="formula">{drawn.tree}</span>;
  return (
    <span class="formula display" role="region" aria-label={t('formula')} tabIndex={0}>
      {drawn.tree}
    </span>
  );
};

/** What was read, and up to where it cannot change when more is written. */
interface Read {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly settled: number;
  readonly settledChars: number;
}

const NOTHING: Read = { text: '', tokens: [], settled: 0, settledChars: 0 };

/** M2. The last block may still grow, and the one before it may turn out to be its beginning. */
const MAY_CHANGE = 2;

const readOn = (before: Read, text: string): Read => {
  const from = text.startsWith(before.text) ? before : NOTHING;
  const settled = from.tokens.slice(0, from.settled);
  const tokens = [...settled, ...lexed(text.slice(from.settledChars))];
  const stands = Math.max(from.settled, tokens.length - MAY_CHANGE);
  const chars = tokens.slice(from.settled, stands).reduce((sum, { raw }) => sum + raw.length, from.settledChars);
  // The lexer changes tabs and line ends; where lengths do not add up nothing is taken over.
  const isWhole = tokens.reduce((sum, { raw }) => sum + raw.length, 0) === text.length;
  return isWhole ? { text, tokens, settled: stands, settledChars: chars } : { text, tokens, settled: 0, settledChars: 0 };
};

/** A block is drawn anew only when it was read anew. */
class SettledBlock extends Component<{ token: Token }> {
  override shouldComponentUpdate(next: { token: Token }): boolean {
    return next.token !== this.props.token;
  }

  override render(): ComponentChildren {
    return <Block token={this.props.token as Tokens.Generic} depth={0} />; // as above
  }
}

/** M3. */
class Guard extends Component<{ text: string; children: ComponentChildren }, { isBroken?: boolean }> {
  static override getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ComponentChildren {
    return this.state.isBroken ? <pre class="as-written">{this.props.text}</pre> : this.props.children;
  }
}

const Rendered = ({ text }: { text: string }) => {
  const read = useRef<Read>(NOTHING);
  const tokens = useMemo(() => {
    read.current = readOn(read.current, text);
    return read.current.tokens;
  }, [text]);
  return (
    <Fragment>
      {tokens.map((token, index) => (
        <SettledBlock key={index} token={token} />
      ))}
    </Fragment>
  );
};

export const Markdown = ({ text }: { text: string }) => {
  if (text.length > MAX_CHARS) return <pre class="as-written">{text}</pre>;
  return (
    <div class="markdown" dir="auto">
      <Guard text={text}>
        <Rendered text={text} />
      </Guard>
    </div>
  );
};
