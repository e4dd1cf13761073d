/** The conversations of one agent or of all, by date: found, chosen one by one or together. */
import {
  addressOf,
  ago,
  Badge,
  Button,
  daemon,
  Empty,
  Failure,
  failed,
  go,
  IconButton,
  language,
  type Loaded,
  Loading,
  Menu,
  type OutputOf,
  SearchField,
  Select,
  Shown,
  useCode,
  useEffect,
  useLoaded,
  useRef,
  useRoving,
  useState,
} from '@svc/kit';
import type { Agent } from './agents.js';
import { keepPins, pinnedIds } from './drafts.js';
import { useStatus } from './model-status.js';
import type { Named } from './conversation.js';
import { ActionDialog, archiveAll, type DialogKind, removeAll, SharingLater, TaggingLater } from './session-actions.js';
import { dayOf, grouped, WEEK_DAYS } from './session-groups.js';
import { tagOf } from './tag-words.js';
import { namedOf, type Session, SessionRow, Tags } from './session-row.js';
import { t } from './words.js';

const PAGE = 50;
const SEARCH_AFTER_MS = 250;
const MIN_SEARCHED = 2;

interface SessionListProps {
  readonly agents: readonly Agent[];
  /** Undefined: of all agents. */
  readonly agentId: string | undefined;
  readonly currentId: string | undefined;
  readonly maySend: boolean;
  readonly mayWrite: boolean;
  readonly onAgent: (id: string) => void;
}

/** Conversations that have the words as their tag. */
const FoundByTag = ({ tag }: { tag: string }) => {
  const { data } = useLoaded(`found tag ${tag}`, (signal) => daemon.call('listSessions', { tag, versions: 'chosen', sort: 'last_message_at', limit: PAGE }, { signal }), ['session']);
  if (!data || data.sessions.length === 0) return null;
  return (
    <section aria-label={t('tag_found', { tag })}>
      <h2 class="list-title">{t('tag_found', { tag })}</h2>
      <ul class="sessions" aria-label={t('tag_found', { tag })}>
        {data.sessions.map((session) => (
          <li key={session.session_id} class="session">
            <a data-row="yes" tabIndex={-1} href={addressOf('chat', [session.agent_id, session.session_id])}>
              <bdi class="session-name cut">{session.label ?? t('untitled')}</bdi>
              <span class="muted small-text">{ago(session.last_message_at ?? session.created_at)}</span>
              <Tags tags={session.tags} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
};

/** What was found by words, across all conversations. */
const Found = ({ words }: { words: string }) => {
  const found = useLoaded(`found ${words}`, (signal) => daemon.call('searchSessions', { q: words, limit: PAGE }, { signal }));
  return (
    <Shown of={found}>
      {({ items }) =>
        items.length === 0 ? (
          <p class="muted pad">{t('search_none')}</p>
        ) : (
          <ul class="sessions" aria-label={t('search')}>
            {items.map((hit) => (
              <li key={`${hit.session_id} ${hit.seq}`} class="session">
                <a data-row="yes" tabIndex={-1} href={addressOf('chat', [hit.agent_id, hit.session_id])}>
                  <bdi class="session-name cut">{hit.label ?? t('untitled')}</bdi>
                  <span class="muted small-text snippet" dir="auto">
                    {hit.snippet}
                  </span>
                  <span class="muted small-text">{ago(hit.timestamp)}</span>
                </a>
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
};

interface SessionsProps {
  readonly of: Loaded<OutputOf<'listSessions'>>;
  readonly limit: number;
  readonly onMore: () => void;
  readonly currentId: string | undefined;
  readonly showAgent: boolean;
  readonly mayWrite: boolean;
  readonly ticked: ReadonlyMap<string, Named> | undefined;
  readonly onTick: (named: Named) => void;
  readonly isArchive: boolean;
}

const Sessions = ({ of, limit, onMore, currentId, showAgent, mayWrite, ticked, onTick, isArchive }: SessionsProps) => {
  const [pins, setPins] = useState(pinnedIds);
  const [dialog, setDialog] = useState<{ readonly kind: DialogKind; readonly of: Named }>();
  const togglePin = (id: string): void => {
    const now = pins.includes(id) ? pins.filter((one) => one !== id) : [id, ...pins];
    keepPins(now);
    setPins(now);
  };
  const row = (session: Session) => (
    <SessionRow
      key={session.session_id}
      session={session}
      currentId={currentId}
      isPinned={pins.includes(session.session_id)}
      showAgent={showAgent}
      mayWrite={mayWrite}
      isTicked={ticked?.has(session.session_id)}
      onTick={() => onTick(namedOf(session))}
      onPin={() => togglePin(session.session_id)}
      onDialog={(kind) => setDialog({ kind, of: namedOf(session) })}
    />
  );
  return (
    <Shown of={of}>
      {({ sessions, total }) => {
        // What nobody has spoken in yet is no conversation.
        const spoken = sessions.filter((session) => session.message_count > 0 || session.active);
        const pinned = spoken.filter(({ session_id }) => pins.includes(session_id));
        const rest = spoken.filter(({ session_id }) => !pins.includes(session_id));
        const names = { today: t('today'), yesterday: t('yesterday'), week: t('previous_days', { days: WEEK_DAYS }), locale: language.value === 'zh' ? 'zh-CN' : 'en-GB' };
        const groups = [
          ...(pinned.length > 0 ? [{ name: t('pinned'), items: pinned }] : []),
          ...grouped(rest, (session) => dayOf(session.active ? new Date().toISOString() : (session.last_message_at ?? session.created_at), names)),
        ];
        return (
          <>
            {spoken.length === 0 && <Empty icon="message-square" title={t(isArchive ? 'none_archived' : 'none_yet')} />}
            {groups.map(({ name, items }) => (
              <section key={name} aria-label={name}>
                <h2 class="list-title">{name}</h2>
                <ul class="sessions" aria-label={t('conversations')}>
                  {items.map(row)}
                </ul>
              </section>
            ))}
            {total > limit && (
              <Button kind="quiet" onPress={onMore}>
                {t('more')}
              </Button>
            )}
            {dialog && <ActionDialog {...dialog} onClose={() => setDialog(undefined)} />}
          </>
        );
      }}
    </Shown>
  );
};

/** Loaded when somebody looks for what was deleted. */
const BinLater = (props: { agentId: string | undefined; mayWrite: boolean }) => {
  const { code, error } = useCode(() => import('./bin.js'), failed);
  if (error !== undefined) return <Failure error={error} />;
  return code ? <code.BinList {...props} /> : <Loading />;
};

/** Of those that are ticked. */
const Several = ({ ticked, isArchive, onDone }: { ticked: ReadonlyMap<string, Named>; isArchive: boolean; onDone: () => void }) => {
  const all = [...ticked.values()];
  const [isTagging, setTagging] = useState(false);
  return (
    <div class="several row wrap" role="group" aria-label={t('ticked', { count: all.length })}>
      <span class="small-text several-count" role="status">
        {t('ticked', { count: all.length })}
      </span>
      <Button
        small
        icon="box"
        disabled={all.length === 0}
        onPress={async () => {
          await archiveAll(all, !isArchive);
          onDone();
        }}
      >
        {t(isArchive ? 'unarchive' : 'archive')}
      </Button>
      <Button small icon="tag" disabled={all.length === 0} onPress={() => setTagging(true)}>
        {t('tags')}
      </Button>
      {isTagging && (
        <TaggingLater
          of={all}
          onClose={() => {
            setTagging(false);
            onDone();
          }}
        />
      )}
      <Button small kind="danger" icon="trash-2" disabled={all.length === 0} onPress={async () => (await removeAll(all)) && onDone()}>
        {t('delete')}
      </Button>
      <Button small kind="quiet" onPress={onDone}>
        {t('cancel')}
      </Button>
    </div>
  );
};

export const SessionList = ({ agents, agentId, currentId, maySend, mayWrite, onAgent }: SessionListProps) => {
  const [typed, setTyped] = useState('');
  const [words, setWords] = useState('');
  const tagInWords = tagOf(words);
  const [onlyAgent, setOnlyAgent] = useState(false);
  const [limit, setLimit] = useState(PAGE);
  useEffect(() => {
    const timer = setTimeout(() => setWords(typed.trim()), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const filter = onlyAgent ? agentId : undefined;
  const [isArchive, setArchive] = useState(false);
  const [isBin, setBin] = useState(false);
  const [ticked, setTicked] = useState<ReadonlyMap<string, Named>>();
  const [tag, setTag] = useState<string>();
  const [isSharing, setSharing] = useState(false);
  const tags = useLoaded('session tags', (signal) => daemon.call('listSessionTags', {}, { signal }), ['session']).data?.tags ?? [];
  const body = useRef<HTMLDivElement>(null);
  const roving = useRoving(body);
  const tick = (named: Named): void =>
    setTicked((now = new Map()) => {
      const next = new Map(now);
      if (!next.delete(named.id)) next.set(named.id, named);
      return next;
    });
  const asked = { limit, versions: 'chosen', sort: 'last_message_at', archived: isArchive ? 'only' : 'no', ...(tag === undefined ? {} : { tag }) } as const;
  const sessions = useLoaded(
    `sessions ${filter} ${limit} ${isArchive} ${tag}`,
    (signal) => daemon.call('listSessions', { ...asked, ...(filter === undefined ? {} : { agent_id: filter }) }, { signal }),
    ['session', 'run', 'agent'],
  );
  const choose = (value: string): void => {
    setOnlyAgent(value !== '');
    if (value !== '') onAgent(value);
  };
  return (
    <div class="session-list">
      <div class="session-list-head">
        <div class="row">
          <div class="grow">
            <Select
              label={t('agent')}
              bare
              value={onlyAgent ? (agentId ?? '') : ''}
              onValue={choose}
              options={[{ value: '', label: t('all_agents') }, ...agents.map(({ id, name }) => ({ value: id, label: name }))]}
            />
          </div>
          {mayWrite && (
            <Menu
              label={t('list_actions')}
              items={[
                { id: 'select', label: t('select'), icon: 'check', onChoose: () => setTicked(new Map()) },
                {
                  id: 'archive',
                  label: t(isArchive ? 'show_current' : 'show_archive'),
                  icon: 'box',
                  onChoose: () => {
                    setTicked(undefined);
                    setBin(false);
                    setArchive(!isArchive);
                  },
                },
                {
                  id: 'bin',
                  label: t(isBin ? 'show_current' : 'show_bin'),
                  icon: 'trash-2',
                  onChoose: () => {
                    setTicked(undefined);
                    setArchive(false);
                    setBin(!isBin);
                  },
                },
                { id: 'shares', label: t('shares'), icon: 'link', onChoose: () => setSharing(true) },
              ]}
            />
          )}
          <IconButton kind="primary" icon="message-square-plus" label={t('new')} disabled={agentId === undefined || !maySend} onPress={() => go('chat', [agentId ?? '', 'new'])} />
        </div>
        <SearchField value={typed} onValue={setTyped} label={t('search')} />
        {(tags.length > 0 || tag !== undefined) && <TagFilter tags={tags} tag={tag} onTag={setTag} />}
      </div>
      {(isArchive || isBin) && (
        <div class="row pad">
          <strong class="grow">{t(isBin ? 'bin' : 'archived')}</strong>
          <Button
            small
            kind="quiet"
            onPress={() => {
              setArchive(false);
              setBin(false);
            }}
          >
            {t('show_current')}
          </Button>
        </div>
      )}
      <div class="session-list-body" ref={body} {...roving}>
        {words.length >= MIN_SEARCHED ? (
          <>
            {tagInWords !== undefined && <FoundByTag tag={tagInWords} />}
            <Found words={words} />
          </>
        ) : isBin ? (
          <BinLater agentId={filter} mayWrite={mayWrite} />
        ) : (
          <Sessions
            of={sessions}
            limit={limit}
            onMore={() => setLimit(limit + PAGE)}
            currentId={currentId}
            showAgent={!onlyAgent}
            mayWrite={mayWrite}
            ticked={ticked}
            onTick={tick}
            isArchive={isArchive}
          />
        )}
      </div>
      {isSharing && <SharingLater of={undefined} onClose={() => setSharing(false)} />}
      {ticked && <Several ticked={ticked} isArchive={isArchive} onDone={() => setTicked(undefined)} />}
      <Placeholder />
    </div>
  );
};

/** Of the tag that somebody chose, also where nothing has it any more. */
const TagFilter = ({ tags, tag, onTag }: { tags: OutputOf<'listSessionTags'>['tags']; tag: string | undefined; onTag: (tag: string | undefined) => void }) => {
  const all = tag === undefined || tags.some((one) => one.tag === tag) ? tags : [...tags, { tag, count: 0 }];
  return (
    <Select
      label={t('tag')}
      bare
      value={tag ?? ''}
      onValue={(value) => onTag(value === '' ? undefined : value)}
      options={[{ value: '', label: t('all_tags') }, ...all.map((one) => ({ value: one.tag, label: `#${one.tag} (${one.count})` }))]}
    />
  );
};

/** Says for as long as it is so that no model answers. */
const Placeholder = () => {
  const status = useStatus();
  return status.data?.default_model_stand_in ? (
    <a class="stand-in" href={addressOf('chat', [], { setup: 'yes' })}>
      <Badge tone="warn" icon="triangle-alert">
        {t('setup')}
      </Badge>
    </a>
  ) : null;
};
