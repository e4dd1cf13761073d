/** Templates of workflows: steps with parameters that a form asks for. */
import { Nullable, OneOf, type Plain, Type } from '@svc/api';

export const CATEGORIES = ['engineering', 'creation', 'thinking', 'business', 'productivity', 'research', 'language', 'own'] as const;

export const TemplateParameter = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
    description: Type.String({ maxLength: 500 }),
    param_type: OneOf(['string', 'number']),
    required: Type.Boolean(),
    default: Nullable(Type.String({ maxLength: 2_000 })),
  },
  { 'x-name': 'WorkflowTemplateParameter' },
);
export type TemplateParameter = Plain<typeof TemplateParameter>;

export const TemplateStep = Type.Object({ name: Type.String(), prompt_template: Type.String(), depends_on: Type.Array(Type.String()) }, { 'x-name': 'WorkflowTemplateStep' });
export type TemplateStep = Plain<typeof TemplateStep>;

const Words = Type.Object({ name: Type.String(), description: Type.String() });

export const Template = Type.Object(
  {
    id: Type.String({ description: 'A name, or the id of one that you saved' }),
    name: Type.String(),
    description: Type.String(),
    category: OneOf(CATEGORIES),
    is_own: Type.Boolean({ description: 'You saved it' }),
    parameters: Type.Array(TemplateParameter),
    steps: Type.Array(TemplateStep),
    i18n: Type.Object({ zh: Type.Optional(Words) }),
  },
  { 'x-name': 'WorkflowTemplate' },
);
export type Template = Plain<typeof Template>;

/** `!topic`: must be given. `tone=formal`: has a default. */
export const parameter = (said: string, description: string): TemplateParameter => {
  const [name = '', usual] = said.replace(/^!/, '').split('=');
  return { name, description, param_type: /^\d+$/.test(usual ?? '') ? 'number' : 'string', required: said.startsWith('!'), default: said.startsWith('!') ? null : (usual ?? '') };
};

export interface Draft {
  readonly id: string;
  readonly category: Template['category'];
  readonly en: readonly [name: string, description: string];
  readonly zh: readonly [name: string, description: string];
  readonly parameters: Readonly<Record<string, string>>;
  /** By name; a name may say what it depends on: `draft < outline, research`. */
  readonly steps: Readonly<Record<string, string>>;
}

export const templateOf = ({ id, category, en, zh, parameters, steps }: Draft): Template => ({
  id,
  category,
  name: en[0],
  description: en[1],
  is_own: false,
  parameters: Object.entries(parameters).map(([said, description]) => parameter(said, description)),
  steps: Object.entries(steps).map(([said, prompt]) => {
    const [name = '', below = ''] = said.split(' < ');
    return { name, prompt_template: prompt, depends_on: below === '' ? [] : below.split(', ') };
  }),
  i18n: { zh: { name: zh[0], description: zh[1] } },
});
