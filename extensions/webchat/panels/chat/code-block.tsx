/** A block of code in an answer: a diagram once it is whole, and what can be opened beside the answer. */
import { CopyButton, IconButton, useMemo, useState } from '@svc/kit';
import type { Tokens } from 'marked';
import { artifactOf, isOpenable } from './artifacts.js';
import { openBeside } from './beside.js';
import { CodeText } from './code-text.js';
import { DiagramPicture } from './diagram-picture.js';
import { t } from './markdown-words.js';
import { ViewSwitch } from './view-switch.js';

export const CodeBlock = ({ token }: { token: Tokens.Code }) => {
  const artifact = useMemo(() => artifactOf(token), [token]);
  const { language, text, title, isWhole } = artifact;
  const [view, setView] = useState<'picture' | 'code'>('picture');
  const [faulty, setFaulty] = useState<string>();
  const isDiagram = language === 'mermaid' && isWhole && faulty !== text;
  return (
    <figure class="code-block">
      <figcaption>
        <span class="grow cut">{title === '' ? language : <bdi>{title}</bdi>}</span>
        {isDiagram && (
          <ViewSwitch
            label={t('view')}
            views={[
              ['picture', t('diagram')],
              ['code', t('code')],
            ]}
            chosen={view}
            onChoose={setView}
          />
        )}
        {isOpenable(artifact) && <IconButton small icon="panel-right" label={t('open_beside')} onPress={() => openBeside(language, text)} />}
        <CopyButton text={text} />
      </figcaption>
      {faulty === text && <p class="muted small-text diagram-fault">{t('not_drawn')}</p>}
      {isDiagram && view === 'picture' ? <DiagramPicture text={text} onFault={() => setFaulty(text)} /> : <CodeText text={text} language={language} />}
    </figure>
  );
};
