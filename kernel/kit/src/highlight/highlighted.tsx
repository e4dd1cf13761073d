/** Colours of code, as elements. */
import { common, createLowlight } from 'lowlight';
import type { ComponentChildren } from 'preact';

type Root = ReturnType<ReturnType<typeof createLowlight>['highlight']>;
type Node = Root['children'][number];

export type Highlighted = ComponentChildren;

const lowlight = createLowlight(common);

const drawn = (nodes: readonly Node[]): ComponentChildren =>
  nodes.map((node, index) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const { className } = node.properties;
    return (
      <span key={index} class={Array.isArray(className) ? className.join(' ') : undefined}>
        {drawn(node.children)}
      </span>
    );
  });

/** Undefined where the language is not known. */
export const highlighted = (text: string, language: string): Highlighted | undefined => (lowlight.registered(language) ? drawn(lowlight.highlight(language, text).children) : undefined);
