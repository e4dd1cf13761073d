/** Code with its colours, which come when the highlighter was loaded; while it grows they are those of a moment ago. */
import { type Highlighted, highlighter, useEffect, useRef, useState } from '@svc/kit';
import { t } from './markdown-words.js';

const COLOUR_EVERY_MS = 150;
const MAX_COLOURED_CHARS = 50_000;

export const CodeText = ({ text, language }: { text: string; language: string }) => {
  const [coloured, setColoured] = useState<{ text: string; language: string; tree: Highlighted }>();
  const latest = useRef(text);
  latest.current = text;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (language === '' || text.length > MAX_COLOURED_CHARS || timer.current !== undefined) return;
    timer.current = setTimeout(async () => {
      timer.current = undefined;
      const { highlighted } = await highlighter();
      const now = latest.current;
      const tree = highlighted(now, language);
      if (tree) setColoured({ text: now, language, tree });
    }, COLOUR_EVERY_MS);
  }, [text, language]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const isCurrent = coloured !== undefined && coloured.language === language && text.startsWith(coloured.text);
  return (
    <pre tabIndex={0} role="region" aria-label={language === '' ? t('code') : t('code_in', { language })}>
      <code>
        {isCurrent ? (
          <>
            {coloured.tree}
            {text.slice(coloured.text.length)}
          </>
        ) : (
          text
        )}
      </code>
    </pre>
  );
};
