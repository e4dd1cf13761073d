/** A description: paragraphs, `code`, and operations that it names, which are links to them. */
import { addressOf, createContext, useContext } from '@svc/kit';
import type { Api } from './openapi.js';

/** The document that is shown. */
export const ApiContext = createContext<Api>({ version: '', areas: [], schemas: {} });

const useOperationAt = (text: string): string | undefined => {
  const { areas } = useContext(ApiContext);
  const [method, path] = text.split(' ', 2);
  if (path === undefined) return undefined;
  const named = areas.flatMap(({ operations }) => operations).find((operation) => operation.method === method && operation.path === path);
  return named && addressOf(named.area, [named.id]);
};

const Code = ({ text }: { text: string }) => {
  const href = useOperationAt(text);
  if (href === undefined) return <code>{text}</code>;
  return (
    <a href={href}>
      <code>{text}</code>
    </a>
  );
};

/** Text in which `code` is code. */
export const Inline = ({ text }: { text: string }) => <>{text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 1 ? <Code key={index} text={part} /> : part))}</>;

export const Prose = ({ text }: { text: string }) => (
  <div class="prose">
    {text
      .split(/\n{2,}/)
      .filter((paragraph) => paragraph.trim() !== '')
      .map((paragraph, index) => (
        <p key={index}>
          <Inline text={paragraph} />
        </p>
      ))}
  </div>
);
