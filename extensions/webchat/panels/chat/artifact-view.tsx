/** One block of an answer beside the conversation: its code, and what it looks like. It follows an answer that is being written. */
import { CopyButton, IconButton, type RefObject, saveFile, useEffect, useLayoutEffect, useMemo, useRef, useState } from '@svc/kit';
import { artifactsOf, fileNameOf, isPreviewed, placeOf, versionsOf, type Artifact } from './artifacts.js';
import { closeBeside, type Wanted } from './beside.js';
import { CodeText } from './code-text.js';
import { DiagramPicture } from './diagram-picture.js';
import { t } from './markdown-words.js';
import { Preview } from './preview.js';
import type { Turn } from './turns.js';
import { VersionSteps } from './version-steps.js';
import { ViewSwitch } from './view-switch.js';

/** So near to the end counts as being there. */
const NEAR_PX = 40;

/** The code, which stays at its end while it is written, unless somebody scrolled away from there. */
const FollowedCode = ({ text, language, isWhole }: Artifact) => {
  const frame = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element && !isWhole && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  return (
    <div
      class="artifact-code"
      ref={frame}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      <CodeText text={text} language={language} />
    </div>
  );
};

const Seen = ({ artifact, onFault }: { artifact: Artifact; onFault: () => void }) =>
  artifact.language === 'mermaid' ? <DiagramPicture text={artifact.text} onFault={onFault} /> : <Preview artifact={artifact} name={nameOf(artifact)} />;

const nameOf = ({ title, language }: Artifact): string => title || language.toUpperCase() || t('code');

/** Escape closes it, wherever the focus is in it or nowhere. */
const useEscape = (within: RefObject<HTMLElement | null>): void =>
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog:modal')) return;
      const { activeElement } = document;
      if (activeElement === null || activeElement === document.body || within.current?.contains(activeElement)) closeBeside();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

/** The place of what was asked for, until somebody chooses another version. */
const usePlace = (all: readonly Artifact[], wanted: Wanted): [place: number, choose: (place: number) => void] => {
  const first = useMemo(() => placeOf(all, wanted), [wanted]);
  const [chosen, setChosen] = useState<{ wanted: Wanted; place: number }>();
  return [chosen?.wanted === wanted ? chosen.place : first, (place) => setChosen({ wanted, place })];
};

export const ArtifactView = ({ wanted, turns, isSheet }: { wanted: Wanted; turns: readonly Turn[]; isSheet: boolean }) => {
  const own = useRef<HTMLElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const all = useMemo(() => artifactsOf(turns), [turns]);
  const [place, setPlace] = usePlace(all, wanted);
  const places = versionsOf(all, place);
  const artifact = all[place] ?? { language: wanted.language, title: '', text: wanted.text, isWhole: true };
  const [view, setView] = useState<'seen' | 'code'>('seen');
  const [faulty, setFaulty] = useState<string>();
  useEscape(own);
  useLayoutEffect(() => title.current?.focus(), [wanted]);
  const canBeSeen = isPreviewed(artifact) && artifact.isWhole && faulty !== artifact.text;
  const shown = canBeSeen ? view : 'code';
  // Over the conversation it covers the heading of the page.
  const Title = isSheet ? 'h1' : 'h2';
  return (
    <aside class="artifact" ref={own} aria-label={t('beside')}>
      <header class="artifact-head">
        {isSheet && <IconButton icon="arrow-left" label={t('back')} onPress={closeBeside} />}
        <Title class="grow cut artifact-title" tabIndex={-1} ref={title}>
          <bdi>{nameOf(artifact)}</bdi>
        </Title>
        {places.length > 1 && <VersionSteps versions={places} at={places.indexOf(place)} onStep={setPlace} />}
        <CopyButton text={artifact.text} />
        <IconButton small icon="download" label={t('download')} onPress={() => saveFile(fileNameOf(artifact), 'text/plain', artifact.text)} />
        {!isSheet && <IconButton small icon="x" label={t('close')} onPress={closeBeside} />}
      </header>
      {canBeSeen && (
        <div class="artifact-bar">
          <ViewSwitch
            label={t('view')}
            views={[
              ['seen', t(artifact.language === 'mermaid' ? 'diagram' : 'preview')],
              ['code', t('code')],
            ]}
            chosen={view}
            onChoose={setView}
          />
          {shown === 'seen' && artifact.language !== 'mermaid' && <span class="muted small-text">{t('preview_limits')}</span>}
        </div>
      )}
      {!artifact.isWhole && (
        <p class="artifact-bar muted small-text" role="status">
          <span class="pulse" aria-hidden="true" />
          {t('writing')}
        </p>
      )}
      {faulty === artifact.text && <p class="artifact-bar muted small-text">{t('not_drawn')}</p>}
      {shown === 'seen' ? <Seen artifact={artifact} onFault={() => setFaulty(artifact.text)} /> : <FollowedCode key={place} {...artifact} />}
    </aside>
  );
};
