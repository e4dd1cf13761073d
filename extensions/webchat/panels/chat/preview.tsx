/** What a document that a model wrote looks like, in a frame that has nothing of the page (src/sandbox.ts). */
import { useEffect, useRef, useState } from '@svc/kit';
import type { Artifact } from './artifacts.js';
import { closeBeside } from './beside.js';
import { t } from './markdown-words.js';
import { isEscapeOf, SANDBOX, showIn } from './sandbox.js';

const CENTRED = '<style>body { display: grid; place-items: center; min-height: 100vh; margin: 0 } svg { max-width: 100%; max-height: 100vh }</style>';

const documentOf = ({ language, text }: Artifact): string => (language === 'svg' ? CENTRED + text : text);

export const Preview = ({ artifact, name }: { artifact: Artifact; name: string }) => {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const text = documentOf(artifact);
  useEffect(() => {
    if (isReady && frame.current) showIn(frame.current, text);
  }, [isReady, text]);
  useEffect(() => {
    const onMessage = (event: MessageEvent<unknown>): void => {
      if (isEscapeOf(frame.current, event)) closeBeside();
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  }, []);
  return <iframe class="artifact-preview" ref={frame} title={t('preview_of', { name })} src={SANDBOX} sandbox="allow-scripts" referrerpolicy="no-referrer" onLoad={() => setReady(true)} />;
};
