/**
 * A formula as MathML, which browsers draw and screen readers read; loaded when the first one is shown.
 *
 * N1  Of what TeX becomes only MathML is taken over, with attributes that say how it looks: no link, no picture, no address.
 * N2  What is no TeX, or never ends, is shown as it was written.
 */
import type { ComponentChildren } from '@svc/kit';
import temml from 'temml';

/** As temml builds them. */
interface MathNode {
  readonly type?: string;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  readonly classes?: readonly string[];
  readonly style?: Readonly<Record<string, string>>;
  readonly children?: readonly MathNode[];
  readonly text?: string;
}

/** Its types are those of its CommonJS file, where the same functions have other names. */
const { __renderToMathMLTree: build } = temml as unknown as { __renderToMathMLTree(tex: string, options: Readonly<Record<string, unknown>>): MathNode };

const ELEMENTS =
  /^(math|semantics|annotation|maction|menclose|merror|mfrac|mi|mmultiscripts|mn|mo|mover|mpadded|mphantom|mprescripts|mroot|mrow|ms|mspace|msqrt|mstyle|msub|msubsup|msup|mtable|mtd|mtext|mtr|munder|munderover|none)$/;
const ATTRIBUTES =
  /^(accent|accentunder|columnalign|columnlines|columnspacing|columnspan|depth|dir|display|displaystyle|encoding|fence|form|height|largeop|linethickness|lspace|mathbackground|mathcolor|mathsize|mathvariant|maxsize|minsize|movablelimits|notation|rowalign|rowlines|rowspacing|rowspan|rspace|scriptlevel|separator|stretchy|symmetric|voffset|width)$/;

const MAX_DEPTH = 200;
const MAX_EXPANSIONS = 500;
/** In em: what is larger covers its neighbours. */
const MAX_SIZE = [20, 20];

const drawn = (node: MathNode, depth: number): ComponentChildren => {
  if (depth > MAX_DEPTH) throw new Error('The formula is too deep.');
  if (node.text !== undefined) return node.text;
  const children = (node.children ?? []).map((child) => drawn(child, depth + 1));
  if (node.type === undefined || !ELEMENTS.test(node.type)) return children;
  const Element = node.type as 'math'; // one of those above
  const attributes = Object.fromEntries(Object.entries(node.attributes ?? {}).filter(([name]) => ATTRIBUTES.test(name)));
  const style = Object.fromEntries(Object.entries(node.style ?? {}).filter(([, value]) => !/[(\\]/.test(value)));
  return (
    <Element {...attributes} style={style} class={node.classes?.join(' ') || undefined}>
      {children}
    </Element>
  );
};

/** Undefined: N2. */
export const formula = (tex: string, isDisplay: boolean): ComponentChildren | undefined => {
  try {
    return drawn(build(tex, { displayMode: isDisplay, throwOnError: true, trust: false, maxExpand: MAX_EXPANSIONS, maxSize: MAX_SIZE }), 0);
  } catch {
    return undefined;
  }
};
