/** What agents needs of whoever holds templates: it declares the service, and an area that knows agents provides it. */
import { OneOf, type Plain, type Service, Type, defineService, method } from '@svc/api';

export const Template = Type.Object({
  name: Type.String({ description: 'Letters, digits, - and _' }),
  source: OneOf(['shipped', 'home'], { description: '`home`: a file in `templates` in the home folder, which overrides a built-in template of the same name' }),
  manifestToml: Type.String({ description: 'The text of an agent.toml' }),
});
export type Template = Plain<typeof Template>;

export const Templates = defineService('templates', '1.1.0', {
  /** Undefined where there is none of that name. The text is as it was written: whoever spawns from it validates it. Throws `templates_too_large`, `templates_unreadable`. */
  find: method([Type.String()], Type.Union([Template, Type.Undefined()]), { what: 'reads the templates of agents' }),
  /** Those that can be used, by name. */
  list: method([], Type.Array(Type.Object({ name: Type.String(), description: Type.String(), systemPrompt: Type.String() })), { what: 'reads the templates of agents' }),
});
export type TemplatesService = Service<typeof Templates>;
