/** One form for all that can be made. A video goes on by itself and is looked after here until it ends. */
import { Button, daemon, money, notify, type OutputOf, Section, Select, TextArea, useEffect, useState } from '@svc/kit';
import { t } from './words.js';

type Provider = OutputOf<'listMediaProviders'>['providers'][number];
type Begun = OutputOf<'generateVideo'>;

const KINDS = { image: 'ImageGeneration', speech: 'TextToSpeech', video: 'VideoGeneration', music: 'MusicGeneration' } as const;
type Kind = keyof typeof KINDS;
const LOOK_AGAIN_MS = 3_000;
const FIRST = '';

export const MakeForm = ({ providers, onMade }: { providers: readonly Provider[]; onMade: () => void }) => {
  const [kind, setKind] = useState<Kind>('image');
  const [prompt, setPrompt] = useState('');
  const [provider, setProvider] = useState(FIRST);
  const [status, setStatus] = useState('');
  const [video, setVideo] = useState<Begun>();
  useVideo(video, (said) => {
    setStatus(said);
    setVideo(undefined);
    onMade();
  });
  const able = providers.filter(({ configured, capabilities }) => configured && capabilities.includes(KINDS[kind]));
  const named = able.some(({ name }) => name === provider) ? { provider } : {};
  const make = async (): Promise<void> => {
    setStatus(t('making'));
    try {
      if (kind === 'video') {
        const begun = await daemon.call('generateVideo', { body: { prompt, ...named } });
        setVideo(begun);
        setStatus(t('begun', { provider: begun.provider }));
        return;
      }
      const made = await madeOf(kind, prompt, named);
      setStatus(t('made', { provider: made.provider, model: made.model, cost: money(made.cost_usd) }));
      onMade();
    } catch (error) {
      setStatus('');
      throw error;
    }
  };
  return (
    <Section title={t('make')}>
      <div class="stack">
        <Select label={t('kind')} value={kind} onValue={(value) => setKind(value as Kind)} options={Object.keys(KINDS).map((value) => ({ value, label: t(value as Kind) }))} />
        <TextArea label={kind === 'speech' ? t('text') : t('prompt')} value={prompt} onValue={setPrompt} rows={3} />
        <Select label={t('provider')} value={provider} onValue={setProvider} options={[{ value: FIRST, label: t('first') }, ...able.map(({ name }) => ({ value: name, label: name }))]} />
        <div>
          <Button kind="primary" onPress={make} disabled={prompt.trim() === '' || video !== undefined}>
            {t('go')}
          </Button>
        </div>
        <p role="status">{status}</p>
        {video !== undefined && <progress aria-label={t('making')} />}
        <Transcription />
      </div>
    </Section>
  );
};

const madeOf = (kind: Exclude<Kind, 'video'>, prompt: string, named: { provider?: string }) => {
  if (kind === 'image') return daemon.call('generateImage', { body: { prompt, ...named } });
  if (kind === 'speech') return daemon.call('generateSpeech', { body: { text: prompt, ...named } });
  return daemon.call('generateMusic', { body: { prompt, ...named } });
};

const useVideo = (video: Begun | undefined, onEnd: (said: string) => void): void => {
  useEffect(() => {
    if (!video) return undefined;
    const look = async (): Promise<void> => {
      const found = await daemon.call('getVideo', { task_id: video.task_id, provider: video.provider });
      if (found.status === 'processing') return;
      onEnd(found.status === 'failed' ? t('failed', { error: found.error }) : t('made', { provider: found.result.provider, model: found.result.model, cost: money(found.cost_usd) }));
    };
    // A question that fails is asked again.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [video?.task_id]);
};

const Transcription = () => {
  const [text, setText] = useState('');
  const send = async (files: FileList | null): Promise<void> => {
    const file = files?.[0];
    if (!file) return;
    setText(t('making'));
    try {
      const found = await daemon.call('transcribeAudio', { body: file }, { headers: { 'content-type': file.type || 'audio/mpeg' } });
      setText(found.text);
    } catch (error) {
      setText('');
      notify(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="stack">
      <label class="field">
        <span class="field-label">{t('recording')}</span>
        <input type="file" accept="audio/*" onChange={(event) => void send(event.currentTarget.files)} />
      </label>
      {text !== '' && <p role="status">{text}</p>}
    </div>
  );
};
