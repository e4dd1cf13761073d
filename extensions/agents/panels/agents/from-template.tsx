/** Templates to choose from, and what becomes of the chosen one. */
import { addressOf, Badge, Button, daemon, Empty, Failure, Icon, LinkButton, may, type OutputOf, SearchField, Section, Shown, TextField, useLoaded, useState, whyNot } from '@svc/kit';
import { DEFAULT_MODEL, modelOf, modelText } from './agent-fields.js';
import { e } from './edit-words.js';
import { GrantsSaid } from './grants-said.js';
import { ModelField } from './model-field.js';
import { t } from './words.js';

type Made = OutputOf<'spawnAgent'>;
type Template = OutputOf<'getTemplate'>;
type Summary = OutputOf<'listTemplates'>['templates'][number];

const Card = ({ template: { name, description, source } }: { template: Summary }) => (
  <a class="card template" href={addressOf('agents', ['new'], { template: name })}>
    <span class="row wrap">
      <strong>{name}</strong>
      {source === 'home' && <Badge tone="info">{t('template_yours')}</Badge>}
    </span>
    <span class="muted small-text">{description}</span>
  </a>
);

const Choice = () => {
  const [typed, setTyped] = useState('');
  const templates = useLoaded('templates', (signal) => daemon.call('listTemplates', {}, { signal }), ['extension']);
  if (templates.data === undefined && templates.error !== undefined) return <Failure title={t('templates_off')} error={templates.error} onRetry={templates.reload} />;
  const wanted = typed.trim().toLowerCase();
  return (
    <div class="stack">
      <SearchField label={t('template_search')} value={typed} onValue={setTyped} />
      <Shown of={templates}>
        {({ templates: all, skipped }) => {
          const shown = all.filter(({ name, description, tags }) => [name, description, ...tags].join(' ').toLowerCase().includes(wanted));
          return (
            <>
              {shown.length === 0 ? (
                <Empty icon="search" title={t('templates_none')}>
                  <p>{t('templates_none_text')}</p>
                </Empty>
              ) : (
                <div class="cards">
                  {shown.map((template) => (
                    <Card key={template.name} template={template} />
                  ))}
                </div>
              )}
              {skipped.length > 0 && (
                <div class="muted small-text">
                  <p>{t('template_skipped', { count: skipped.length })}</p>
                  <ul>
                    {skipped.map(({ file, error }) => (
                      <li key={file}>
                        <code>{file}</code>: {error}
                      </li>
                    ))}
                  </ul>
                </div>
              )}
            </>
          );
        }}
      </Shown>
    </div>
  );
};

const Chosen = ({ template: { name, description, manifest }, onMade }: { template: Template; onMade: (made: Made) => void }) => {
  const [wanted, setWanted] = useState(manifest.name);
  const own = modelText(manifest.model);
  const [model, setModel] = useState(own);
  const [error, setError] = useState<unknown>();
  const make = async (): Promise<void> => {
    try {
      onMade(await daemon.call('spawnAgent', { body: { template: name, name: wanted.trim(), ...(model === own ? {} : { model: modelOf(model) }) } }));
    } catch (refusal) {
      setError(refusal);
    }
  };
  const mayWrite = may('agents.write');
  return (
    <div class="agent-form">
      <Section title={t('from', { name })} note={description}>
        <TextField label={t('name')} hint={t('name_hint')} error={wanted.trim() === '' ? t('name_missing') : undefined} value={wanted} maxLength={256} disabled={!mayWrite} onValue={setWanted} />
        <ModelField value={model || DEFAULT_MODEL} disabled={!mayWrite} onValue={setModel} />
      </Section>
      <Section title={e('may')} note={e('may_note')}>
        <GrantsSaid grants={manifest.capabilities} />
      </Section>
      {error !== undefined && <Failure title="" error={error} />}
      <div class="row wrap">
        <Button kind="primary" icon="plus" disabled={!mayWrite || wanted.trim() === ''} title={whyNot('agents.write')} onPress={make}>
          {t('make')}
        </Button>
        <LinkButton icon="pencil" href={addressOf('agents', ['new'], { by: 'text', template: name })}>
          {t('text_first')}
        </LinkButton>
      </div>
    </div>
  );
};

const One = ({ name, onMade }: { name: string; onMade: (made: Made) => void }) => {
  const template = useLoaded(`template ${name}`, (signal) => daemon.call('getTemplate', { name }, { signal }));
  return (
    <div class="stack">
      <div>
        <a class="row" href={addressOf('agents', ['new'])}>
          <Icon name="arrow-left" size={16} />
          {t('template_back')}
        </a>
      </div>
      <Shown of={template}>{(data) => <Chosen template={data} onMade={onMade} />}</Shown>
    </div>
  );
};

export const FromTemplate = ({ template, onMade }: { template: string | undefined; onMade: (made: Made) => void }) => (template ? <One key={template} name={template} onMade={onMade} /> : <Choice />);
