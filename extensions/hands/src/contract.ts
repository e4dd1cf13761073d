/** Hands and active hands, with their routes, commands and pages. */
import { defineResource, OneOf, Type, Uuid } from '@svc/api';
import { handErrors } from './errors.js';
import { MAX_FILE_BYTES } from './hand-file.js';
import { Activated, Browser, Config, DepsChecked, DepsInstalled, Given, HandDetail, HandItem, InstanceItem, SettingsShown, Stats } from './shapes.js';

export { HandsChanged } from './tables.js';

const HandId = Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$', description: 'Id of a hand', examples: ['folder-watcher'] });
const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: MAX_FILE_BYTES, description }));
const Reach = (description: string) => Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 100, description }));

const SAMPLE = 'id = "greeter"\nname = "Greeter"\ndescription = "Says hello every morning."\n[agent]\nsystem_prompt = "You say hello."\n';

const InstallBody = Type.Object(
  {
    toml_content: Text('The text of its HAND.toml'),
    manifest: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_FILE_BYTES, description: 'The same as toml_content', 'x-same-as': 'toml_content' })),
    slug: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'A folder of registry/hands in the home, instead of a text' })),
    hand_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'The same as slug', 'x-same-as': 'slug' })),
    skill_content: Text('A text that all its agents read, as SKILL.md beside the file'),
    accept_findings: Type.Optional(Type.Boolean({ description: 'Install it although texts of it look like orders that were slipped in. Send it once you have read them' })),
  },
  { minProperties: 1, 'x-name': 'InstallHand' },
);

const ActivateBody = Type.Object(
  {
    config: Type.Optional(Given),
    instance_id: Type.Optional({ ...Uuid, description: 'An id of your own, to have another instance beside the first' }),
    network: Reach('Hosts that its agents may reach, beside those that its file grants: names, *.example.org, * for the public web'),
    shell: Reach('Commands that its agents may run, beside those that its file grants, such as `git status`'),
    mounts: Reach('Folders that its commands can read in their sandbox; with :rw also write'),
  },
  { 'x-name': 'ActivateHand' },
);

export const Hands = defineResource({
  area: 'hands',
  one: 'hand',
  path: '/api/hands',
  key: { name: 'hand_id', schema: HandId },
  item: HandItem,
  operations: {
    list: {
      summary: 'List hands',
      description: 'Hands that are installed, with what they need and whether you have them active. Texts are in the language of `Accept-Language` where the hand has it.',
      cost: 3,
    },
    get: { summary: 'Get a hand', description: 'Shows what each of its agents is told and granted. Read it before you activate the hand.', answer: HandDetail, cost: 2 },
    delete: {
      id: 'uninstallHand',
      summary: 'Uninstall a hand',
      description: 'Refused with 409 while anybody has it active. A hand that comes with svc cannot be uninstalled.',
      permission: 'hands.admin',
      isBlind: true,
      errors: [409],
      answer: Type.Object({ status: OneOf(['ok']), hand_id: Type.String() }),
      audit: 'hand_uninstalled',
    },
  },
  list: { as: ['hands'], search: ['name', 'description', 'category'], sort: ['name', 'category'] },
  columns: [
    { field: 'name', below: 'description' },
    { field: 'hand_id', title: { en: 'Id', zh: '标识' }, format: 'code' },
    { field: 'category', isMinor: true },
    { field: 'active', format: 'yes' },
    { field: 'requirements_met', format: 'yes' },
  ],
  verbs: { get: 'info', delete: 'uninstall' },
  actions: {
    install: {
      on: 'list',
      id: 'installHand',
      summary: 'Install a hand',
      description:
        'From the text of a HAND.toml, or by name from the folder registry/hands of the home. Nothing is run or activated. Texts that look like orders for an agent are refused with what was found and where.',
      examples: {
        'a text': { toml_content: SAMPLE },
        'a text with a skill': { toml_content: SAMPLE, skill_content: '# How to greet\nUse the name of the person.' },
        'from the registry': { slug: 'researcher' },
      },
      permission: 'hands.admin',
      body: InstallBody,
      answer: HandDetail,
      errors: [400, 404, 409],
      cost: 5,
      audit: 'hand_installed',
      done: { en: 'Installed {id}: {name}.', zh: '已安装 {id}：{name}。' },
      button: { label: { en: 'Install', zh: '安装' }, icon: 'plus' },
      command: false,
    },
    reload: {
      on: 'list',
      id: 'reloadHands',
      summary: 'Read the hands of the home again',
      description: 'After files in the folder hands of the home were changed. Active instances go on as they are.',
      permission: 'hands.admin',
      answer: Type.Object({ status: OneOf(['ok']), added: Type.Integer(), updated: Type.Integer(), total: Type.Integer() }),
      cost: 3,
      audit: 'hands_reloaded',
      done: { en: '{added} added, {updated} updated, {total} in all.', zh: '新增 {added}，更新 {updated}，共 {total}。' },
      button: { label: { en: 'Reload', zh: '重新加载' }, icon: 'refresh-cw' },
    },
    activate: {
      id: 'activateHand',
      isBlind: true,
      summary: 'Activate a hand',
      description:
        'Creates its agents, as yours, and the schedule of those that work by themselves. What it needs and is missing does not stop it; it is degraded then. Tools that need hosts or commands have none unless its file or this request grants them. A second activation is refused with 409, unless it names an `instance_id`.',
      examples: {
        'as it is': {},
        'with settings': { config: { folder: 'inbox', report: 'brief' } },
        'with a host': { config: { sites: 'https://example.org' }, network: ['example.org'] },
      },
      body: ActivateBody,
      bodyRule: 'optional',
      answer: Activated,
      errors: [400, 403, 409, 503],
      cost: 10,
      idempotent: true,
      audit: 'hand_activated',
      done: { en: 'Activated {hand_id}. Its agent is {agent_name}.', zh: '已启用 {hand_id}，智能体为 {agent_name}。' },
      button: { label: { en: 'Activate', zh: '启用' }, icon: 'play', when: { active: [false] } },
    },
    checkDeps: {
      id: 'checkHandDependencies',
      path: '/check-deps',
      isBlind: true,
      summary: 'Check what a hand needs',
      description: 'Looks for its programs and variables now, and says which command would install each. Nothing is installed.',
      answer: DepsChecked,
      cost: 3,
      audit: false,
      done: { en: 'Everything it needs is there: {requirements_met}.', zh: '所需均已满足：{requirements_met}。' },
      button: { label: { en: 'Check', zh: '检查' }, icon: 'search' },
      command: {
        output: {
          kind: 'table',
          rows: 'requirements',
          empty: 'It needs nothing.',
          columns: [
            { field: 'label', shrinks: true },
            { field: 'satisfied', format: 'yes' },
            { field: 'optional', format: 'yes' },
            { field: 'command', givesWay: true },
          ],
        },
      },
    },
    installDeps: {
      id: 'installHandDependencies',
      path: '/install-deps',
      isBlind: true,
      summary: 'Install programs that a hand needs',
      description:
        'Runs the commands that `check-deps` shows, one after another, at most 5 minutes each. The answer comes after 25 seconds at the latest; while commands go on, their status is `waiting` or `running`: send the request again to see how far they are. Only package managers are run, without a shell.',
      permission: 'hands.admin',
      answer: DepsInstalled,
      cost: 30,
      audit: 'hand_dependencies_installed',
      done: { en: 'Everything it needs is there: {requirements_met}.', zh: '所需均已满足：{requirements_met}。' },
      button: {
        label: { en: 'Install what it needs', zh: '安装所需程序' },
        icon: 'download',
        when: { requirements_met: [false] },
        confirm: {
          title: { en: 'Install programs on this machine?', zh: '在此机器上安装程序？' },
          text: { en: 'This runs the commands that “Check” shows, with the rights of the daemon.', zh: '将以守护进程的权限运行“检查”所显示的命令。' },
          action: { en: 'Install', zh: '安装' },
        },
      },
      command: false,
    },
    settings: {
      id: 'getHandSettings',
      method: 'GET',
      isBlind: true,
      summary: 'Get your settings of a hand',
      description: 'What you chose, what holds with the defaults filled in, and which values of a setting can be used on this machine.',
      answer: SettingsShown,
      cost: 2,
      command: {
        output: {
          kind: 'table',
          rows: 'settings',
          empty: 'It has no settings.',
          columns: [{ field: 'key' }, { field: 'label', shrinks: true }, { field: 'setting_type', title: 'TYPE' }, { field: 'default', givesWay: true }],
        },
      },
    },
    setSettings: {
      id: 'updateHandSettings',
      method: 'PUT',
      path: '/settings',
      isBlind: true,
      summary: 'Change your settings of a hand',
      description: 'Changes the settings that the body names and leaves the others. They hold from the next activation.',
      examples: { one: { report: 'brief' }, several: { folder: 'inbox', include_hidden: false }, 'back to its default': { report: null } },
      body: Given,
      answer: Type.Object({
        status: OneOf(['ok']),
        hand_id: Type.String(),
        instance_id: Type.Union([Uuid, Type.Null()], { description: 'Your first active instance, which has its settings until it is activated again' }),
        config: Config,
      }),
      errors: [400],
      audit: 'hand_settings_changed',
      command: false,
    },
  },
  words: {
    title: { en: 'Hands', zh: '助手' },
    one: { en: 'hand', zh: '助手' },
    note: {
      en: 'Agents with a purpose, settings and a schedule, made from one file. Activating a hand creates its agents.',
      zh: '由一个文件定义的、有目标、设置和时间表的智能体。启用后会创建其智能体。',
    },
    empty: { en: 'No hand is installed. Install one from the text of its HAND.toml.', zh: '还没有安装助手。可用 HAND.toml 的内容安装。' },
    fields: {
      name: { label: { en: 'Hand', zh: '助手' } },
      category: { label: { en: 'Category', zh: '类别' } },
      active: { label: { en: 'Active', zh: '已启用' } },
      requirements_met: { label: { en: 'Has what it needs', zh: '条件满足' } },
      toml_content: { label: { en: 'HAND.toml', zh: 'HAND.toml' } },
      skill_content: { label: { en: 'SKILL.md', zh: 'SKILL.md' } },
      slug: { label: { en: 'From the registry', zh: '来自注册表' }, hint: { en: 'A folder of registry/hands in the home, instead of a text', zh: '主目录 registry/hands 下的文件夹，代替文本' } },
      accept_findings: { label: { en: 'Install it in spite of findings', zh: '即使有发现也安装' } },
      config: { label: { en: 'Settings', zh: '设置' } },
      network: { label: { en: 'Hosts', zh: '主机' } },
      shell: { label: { en: 'Commands', zh: '命令' } },
      mounts: { label: { en: 'Folders', zh: '文件夹' } },
      instance_id: { label: { en: 'Instance id', zh: '实例标识' } },
    },
  },
  view: { event: 'hands' },
  missing: (id) => handErrors.not_found(id, ''),
});

export const HandInstances = defineResource({
  area: 'hands',
  one: 'hand instance',
  path: '/api/hands/active',
  itemPath: '/api/hands/instances/{id}',
  key: { name: 'id', schema: Type.String({ format: 'uuid', description: 'Instance id' }) },
  item: InstanceItem,
  operations: {
    list: { id: 'listActiveHands', summary: 'List active hands', description: 'Yours, newest first; of everybody for owners and admins.', cost: 2 },
    delete: {
      id: 'deactivateHand',
      summary: 'Deactivate a hand',
      description: 'Deletes its agents with their conversations, memory and jobs.',
      answer: Type.Object({ status: OneOf(['deactivated']), instance_id: Uuid }),
      audit: 'hand_deactivated',
    },
  },
  list: { as: ['instances'], search: ['hand_name', 'hand_id'], sort: ['activated_at', 'hand_name'], order: 'desc' },
  columns: [{ field: 'hand_name', below: 'error' }, { field: 'status', tones: { running: 'good', paused: 'warn', error: 'bad' } }, { field: 'agent_name' }, { field: 'activated_at', format: 'ago' }],
  verbs: { list: 'active', delete: 'deactivate' },
  actions: {
    pause: {
      id: 'pauseHand',
      summary: 'Pause a hand',
      description: 'Stops what its agents do by themselves, until it is resumed, also over restarts. They still answer people. Pausing it again changes nothing.',
      answer: InstanceItem,
      errors: [409],
      audit: 'hand_paused',
      done: { en: 'Paused {hand_name}.', zh: '已暂停 {hand_name}。' },
      button: { label: { en: 'Pause', zh: '暂停' }, icon: 'pause', when: { status: ['running'] } },
    },
    resume: {
      id: 'resumeHand',
      summary: 'Resume a hand',
      description: 'Jobs that the pause disabled are enabled again. Resuming it again changes nothing.',
      answer: InstanceItem,
      errors: [409],
      audit: 'hand_resumed',
      done: { en: 'Resumed {hand_name}.', zh: '已恢复 {hand_name}。' },
      button: { label: { en: 'Resume', zh: '恢复' }, icon: 'play', when: { status: ['paused'] } },
    },
    stats: { id: 'getHandStats', method: 'GET', summary: 'Get figures of an active hand', description: 'The metrics are values that its coordinator stored in its memory.', answer: Stats, cost: 3 },
    browser: { id: 'getHandBrowser', method: 'GET', summary: 'Get the browser of an active hand', description: 'Agents have no browser in this version: `active` is false.', answer: Browser },
  },
  words: {
    title: { en: 'Active hands', zh: '运行中的助手' },
    one: { en: 'active hand', zh: '运行中的助手' },
    note: { en: 'Hands that work for you now. A paused hand does nothing by itself, and still answers.', zh: '正在为您工作的助手。暂停后不会自行工作，但仍会回答。' },
    empty: { en: 'No hand is active. Activate one under Hands.', zh: '没有启用的助手。请在“助手”中启用。' },
    fields: {
      hand_name: { label: { en: 'Hand', zh: '助手' } },
      status: { label: { en: 'State', zh: '状态' }, values: { running: { en: 'running', zh: '运行中' }, paused: { en: 'paused', zh: '已暂停' }, error: { en: 'error', zh: '错误' } } },
      agent_name: { label: { en: 'Agent', zh: '智能体' } },
      activated_at: { label: { en: 'Activated', zh: '启用时间' } },
    },
  },
  view: { event: 'hands', detail: ['hand_id', 'status', 'error', 'agent_ids', 'config', 'updated_at'] },
  missing: handErrors.instance_not_found,
});
