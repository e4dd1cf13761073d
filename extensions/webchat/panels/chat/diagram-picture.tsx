/** A diagram as a picture, in the colours of the page. */
import { contrast, isDark, Loading, useEffect, useState } from '@svc/kit';
import { type Diagram, diagramOf } from './diagram.js';
import { t } from './markdown-words.js';

/** The title that it gives itself, else its kind. */
const nameOf = (text: string): string => /^\s*(?:accTitle|title)\s*:\s*(.+)$/m.exec(text)?.[1] ?? /^\s*(?!%%|---|$)([\w-]+)/m.exec(text.replace(/^---\n[\s\S]*?\n---\n/, ''))?.[1] ?? '';

/** `onFault`: it cannot be drawn. */
export const DiagramPicture = ({ text, onFault }: { text: string; onFault: () => void }) => {
  const [drawn, setDrawn] = useState<Diagram>();
  const look = `${isDark.value} ${contrast.value}`;
  useEffect(() => {
    let isWanted = true;
    diagramOf(text).then(
      (diagram) => isWanted && setDrawn(diagram),
      () => isWanted && onFault(),
    );
    return () => {
      isWanted = false;
    };
  }, [text, look]);
  if (!drawn) return <Loading lines={4} label={t('drawing')} />;
  return (
    <div class="diagram" role="region" aria-label={t('diagram')} tabIndex={0}>
      <img src={drawn.url} width={Math.round(drawn.width)} height={Math.round(drawn.height)} alt={t('diagram_of', { name: nameOf(text) })} />
    </div>
  );
};
