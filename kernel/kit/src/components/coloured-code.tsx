/** The text of a field once more, in colours: it lies under the field, whose own letters are not drawn. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Highlighted, highlighter } from '../highlighter.js';

/** All of it is coloured at each key. */
const MAX_CHARS = 30_000;

/** Undefined where there are no colours: the language is not known, the text is long, or what colours it has not come. */
export const useColours = (text: string, language: string | undefined): Highlighted | undefined => {
  const [colours, setColours] = useState<Awaited<ReturnType<typeof highlighter>>>();
  useEffect(() => {
    if (language !== undefined && !colours) highlighter().then(setColours, () => undefined); // it can be read without
  }, [language]);
  return useMemo(() => (language === undefined || text.length > MAX_CHARS ? undefined : colours?.highlighted(text, language)), [text, language, colours]);
};

/** Scrolls with the field. */
export const ColouredCode = ({ tree, area }: { tree: Highlighted; area: RefObject<HTMLTextAreaElement | null> }) => {
  const own = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    const field = area.current;
    const follow = (): void => {
      if (field) own.current?.scrollTo({ top: field.scrollTop, left: field.scrollLeft, behavior: 'instant' });
    };
    follow();
    field?.addEventListener('scroll', follow, { passive: true });
    return () => field?.removeEventListener('scroll', follow);
  }, [tree]);
  return (
    <pre class="coloured-code code-area" ref={own} aria-hidden="true">
      <code>{tree}</code>
    </pre>
  );
};
