/** One operation: what it does, what it takes, what it answers, how to call it. */
import { addressOf, Badge, CopyButton, Fold, Section, useContext, useViewTitle } from '@svc/kit';
import { CodeBlock, CodeExamples } from './code-examples.js';
import { t } from './docs-words.js';
import { Method } from './method.js';
import { type Answer, isSocket, type Operation, type Parameter, resolved } from './openapi.js';
import { ApiContext, Inline, Prose } from './prose.js';
import { sampleOf } from './sample.js';
import { FieldRow, SchemaFields, TypeLine } from './schema-view.js';
import { TryIt } from './try-it.js';

const PLACES = { path: 'place_path', query: 'place_query', header: 'place_header' } as const;

const Parameters = ({ parameters }: { parameters: readonly Parameter[] }) => (
  <Section title={t('parameters')}>
    {Object.entries(PLACES).map(([place, title]) => {
      const here = parameters.filter((one) => one.in === place);
      if (here.length === 0) return null;
      return (
        <div key={place} class="stack">
          <h3>{t(title)}</h3>
          <ul class="api-fields">
            {here.map(({ name, schema, description, isNeeded }) => (
              <FieldRow key={name} name={name} schema={schema} description={description} isNeeded={isNeeded} />
            ))}
          </ul>
        </div>
      );
    })}
  </Section>
);

const BodyShown = ({ body }: { body: NonNullable<Operation['body']> }) => (
  <Section
    title={t('body')}
    note={
      <>
        {body.contentType} · <TypeLine schema={body.schema} />
        {!body.isNeeded && ` · ${t('optional_body')}`}
      </>
    }
  >
    <SchemaFields schema={body.schema} />
  </Section>
);

const AnswerShown = ({ answer: { status, description, contentType, schema } }: { answer: Answer }) => {
  const { schemas } = useContext(ApiContext);
  return (
    <div class="stack api-answer">
      <p class="row wrap">
        <Badge tone="good">{status}</Badge>
        <span>
          <Inline text={description} />
        </span>
        {contentType !== undefined && <span class="muted small-text">{contentType}</span>}
        {schema && <TypeLine schema={schema} />}
      </p>
      {schema && resolved(schema, schemas).description !== undefined && schema.$ref === undefined && resolved(schema, schemas).description !== description && (
        <Prose text={resolved(schema, schemas).description ?? ''} />
      )}
      {schema && <SchemaFields schema={schema} />}
      {schema && contentType === 'application/json' && (
        <Fold summary={t('show_sample')}>
          <CodeBlock text={JSON.stringify(sampleOf(schema, schemas), null, 2)} label={`${t('sample')} ${status}`} />
        </Fold>
      )}
    </div>
  );
};

const Errors = ({ errors }: { errors: readonly Answer[] }) => (
  <Section title={t('errors')} note={<Inline text={t('errors_text')} />}>
    <ul class="api-fields" aria-label={t('errors')}>
      {errors.map(({ status, description }) => (
        <li key={status} class="api-field row">
          <Badge tone={status.startsWith('5') ? 'warn' : 'bad'}>{status}</Badge>
          <span>
            <Inline text={description} />
          </span>
        </li>
      ))}
    </ul>
  </Section>
);

export const OperationView = ({ operation }: { operation: Operation }) => {
  const { area, body, errors, id, method, needsKey, parameters, path } = operation;
  useViewTitle(operation.summary);
  return (
    <article class="docs-operation">
      <header class="stack operation-head">
        <p class="small-text">
          <a href={addressOf(area)}>{area}</a>
        </p>
        <h1 tabIndex={-1}>{operation.summary}</h1>
        <p class="operation-address">
          <Method method={method} />
          <code class="grow">{path}</code>
          <CopyButton label={t('link')} text={() => location.href} />
        </p>
        <p class="row wrap small-text muted">
          <code>{id}</code>
          {!needsKey && <Badge>{t('public')}</Badge>}
        </p>
        <Prose text={operation.description} />
      </header>
      <div class="operation-use stack">
        <Section title={t('code')}>
          <CodeExamples key={id} operation={operation} />
        </Section>
        <Section title={t('try')} note={isSocket(operation) ? t('socket_note') : t('try_note')}>
          {!isSocket(operation) && <TryIt key={id} operation={operation} />}
        </Section>
      </div>
      <div class="operation-about stack">
        {parameters.length > 0 && <Parameters parameters={parameters} />}
        {body && <BodyShown body={body} />}
        <Section title={t('answer')}>
          {operation.answers.map((answer) => (
            <AnswerShown key={answer.status} answer={answer} />
          ))}
        </Section>
        {errors.length > 0 && <Errors errors={errors} />}
      </div>
    </article>
  );
};
