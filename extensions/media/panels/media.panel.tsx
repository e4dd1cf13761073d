/** Media: make something, and see what was made. */
import './media/media.css';
import { type Column, daemon, definePanel, may, type OutputOf, PanelBody, PanelHead, Section, Shown, Table, useFresh, useLoaded } from '@svc/kit';
import { Gallery } from './media/gallery.js';
import { MakeForm } from './media/make-form.js';
import { t } from './media/words.js';

type Provider = OutputOf<'listMediaProviders'>['providers'][number];

const Media = () => {
  const providers = useLoaded('media providers', (signal) => daemon.call('listMediaProviders', {}, { signal }));
  const uploads = useLoaded('media uploads', (signal) => daemon.call('listUploads', { limit: 200 }, { signal }));
  useFresh(uploads.reload, ['media', 'files']);
  useFresh(providers.reload, ['provider']);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <div class="stack">
          {may('media.write') && <MakeForm providers={providers.data?.providers ?? []} onMade={uploads.reload} />}
          <Section title={t('gallery')}>
            <Shown of={uploads} lines={6}>
              {({ rows }) => <Gallery files={rows} onChange={uploads.reload} />}
            </Shown>
          </Section>
          <Section title={t('providers')}>
            <Shown of={providers} lines={5}>
              {({ providers: rows }) => <Table label={t('list_of', { what: t('providers') })} columns={COLUMNS} rows={rows} keyOf={({ name }) => name} />}
            </Shown>
          </Section>
        </div>
      </PanelBody>
    </>
  );
};

const KINDS = { ImageGeneration: 'image', TextToSpeech: 'speech', VideoGeneration: 'video', MusicGeneration: 'music', Transcription: 'transcription' } as const;

const COLUMNS: ReadonlyArray<Column<Provider>> = [
  { id: 'name', title: t('provider'), cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'makes', title: t('makes'), cell: ({ capabilities }) => capabilities.map((one) => t(KINDS[one])).join(', ') },
  { id: 'key', title: t('key'), cell: ({ name, configured }) => (configured ? t('yes') : t('no', { name })) },
];

export const panel = definePanel({ view: Media });
