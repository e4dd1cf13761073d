/** What is read: all areas, one area, or one operation. */
import { address, addressOf, LinkButton, PanelBody, Section, useContext } from '@svc/kit';
import { t } from './docs-words.js';
import { Method } from './method.js';
import type { Api, Area } from './openapi.js';
import { OperationView } from './operation-view.js';
import { ApiContext, Inline, Prose } from './prose.js';

const OperationLinks = ({ area }: { area: Area }) => (
  <ul class="docs-list" aria-label={t('operations', { count: area.operations.length })}>
    {area.operations.map(({ id, method, path, summary }) => (
      <li key={id}>
        <a href={addressOf(area.name, [id])}>
          <Method method={method} />
          <span class="grow">
            {summary}
            <code class="muted">{path}</code>
          </span>
        </a>
      </li>
    ))}
  </ul>
);

const AreaView = ({ area }: { area: Area }) => (
  <PanelBody>
    <h1 tabIndex={-1}>{area.name}</h1>
    <Prose text={area.description} />
    <OperationLinks area={area} />
  </PanelBody>
);

const Overview = ({ api }: { api: Api }) => (
  <PanelBody>
    <h1 tabIndex={-1}>{t('title')}</h1>
    <p>{t('about', { version: api.version })}</p>
    <p>
      <LinkButton small icon="download" href="/api/openapi.json" target="_blank">
        {t('document')}
      </LinkButton>
    </p>
    <Section title={t('auth')}>
      <p>
        <Inline text={t('auth_text')} />
      </p>
    </Section>
    <Section title={t('errors')}>
      <p>
        <Inline text={t('errors_text')} />
      </p>
    </Section>
    <Section title={t('areas')}>
      <ul class="docs-list" aria-label={t('areas')}>
        {api.areas.map(({ name, description, operations }) => (
          <li key={name}>
            <a href={addressOf(name)}>
              <span class="grow">
                <strong>{name}</strong>
                <span class="muted">{description}</span>
              </span>
              <span class="muted small-text numbers">{t('operations', { count: operations.length })}</span>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  </PanelBody>
);

const Gone = ({ id }: { id: string }) => (
  <PanelBody>
    <h1 tabIndex={-1}>{t('gone')}</h1>
    <p>{t('gone_text', { id })}</p>
  </PanelBody>
);

/** What the address leads to. */
export const Place = () => {
  const api = useContext(ApiContext);
  const { panel, path } = address.value;
  const [id] = path;
  if (panel === '') return <Overview api={api} />;
  const area = api.areas.find(({ name }) => name === panel);
  if (id === undefined) return area ? <AreaView area={area} /> : <Gone id={panel} />;
  // An operation that moved to another area is still found by its name.
  const operation = (area?.operations ?? []).find((one) => one.id === id) ?? api.areas.flatMap(({ operations }) => operations).find((one) => one.id === id);
  return operation ? <OperationView key={operation.id} operation={operation} /> : <Gone id={id} />;
};
