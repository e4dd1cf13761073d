/** Templates for engineering. */
import type { Draft } from './shape.js';

export const ENGINEERING: readonly Draft[] = [
  {
    id: 'api-design',
    category: 'engineering',
    en: ['API design', 'Resources, then operations, then an OpenAPI document'],
    zh: ['API 设计', '先资源，再操作，最后生成 OpenAPI 文档'],
    parameters: { '!requirements': 'What the API is for', 'tech_stack=': 'Languages and frameworks' },
    steps: {
      resource_model: 'Name the resources that these requirements need, with their fields and how they relate.\n\n{{requirements}}\n\nTechnology: {{tech_stack}}',
      'endpoint_design < resource_model': 'Design the operations for these resources: method, path, bodies, errors and who may call them.\n\n{{resource_model}}',
      'openapi_spec < endpoint_design': 'Write an OpenAPI 3.1 document in YAML for these operations. Answer with the document alone.\n\n{{endpoint_design}}',
    },
  },
  {
    id: 'bug-triage',
    category: 'engineering',
    en: ['Bug triage', 'From a report to the cause and a plan to fix it'],
    zh: ['缺陷分析', '从报告到原因与修复计划'],
    parameters: { '!bug_report': 'What was reported', 'codebase_context=': 'What one must know of the code' },
    steps: {
      reproduce_path: 'Say step by step how to reproduce this bug, and what is missing in the report.\n\n{{bug_report}}\n\nContext: {{codebase_context}}',
      'root_cause < reproduce_path': 'Name the most likely causes, each with what would prove or refute it.\n\n{{reproduce_path}}',
      'fix_plan < root_cause': 'Write a plan for the fix of the most likely cause: the change, its risk, and the test that fails without it.\n\n{{root_cause}}',
    },
  },
  {
    id: 'code-review',
    category: 'engineering',
    en: ['Code review', 'Three reviews side by side, joined into one'],
    zh: ['代码评审', '三个并行评审，合并为一份'],
    parameters: { '!code': 'The code', 'language=detect it': 'Its language', 'context=': 'What it belongs to' },
    steps: {
      correctness: 'Review this code ({{language}}) for mistakes alone: wrong results, edge cases, races. {{context}}\n\n{{code}}',
      security: 'Review this code ({{language}}) for security alone: input, secrets, permissions, injection. {{context}}\n\n{{code}}',
      style: 'Review this code ({{language}}) for clarity alone: names, structure, comments, duplication. {{context}}\n\n{{code}}',
      'synthesise < correctness, security, style':
        'Join three reviews into one list, the worst first, each with its place and a suggestion. Leave out what is said twice.\n\n{{correctness}}\n\n{{security}}\n\n{{style}}',
    },
  },
  {
    id: 'data-pipeline',
    category: 'engineering',
    en: ['Data pipeline', 'Looks at data, cleans it and analyses it'],
    zh: ['数据处理', '查看、清洗并分析数据'],
    parameters: { '!raw_data': 'The data', 'output_format=json': 'Format of the cleaned data', 'analysis_goal=what stands out': 'What you want to know' },
    steps: {
      profile: 'Describe this data: columns, kinds, gaps, duplicates and values that cannot be right.\n\n{{raw_data}}',
      'clean_transform < profile': 'Clean the data by this description, as {{output_format}}. Say what you changed.\n\nData: {{raw_data}}\n\nDescription: {{profile}}',
      'analyse < clean_transform': 'Analyse the cleaned data. Question: {{analysis_goal}}\n\n{{clean_transform}}',
    },
  },
  {
    id: 'incident-postmortem',
    category: 'engineering',
    en: ['Incident report', 'Timeline, causes, and a report that blames nobody'],
    zh: ['事故复盘', '时间线、原因与对事不对人的报告'],
    parameters: { '!incident_notes': 'Notes, messages and logs', 'service_name=': 'The service' },
    steps: {
      timeline: 'Make a timeline of this incident of {{service_name}} with times, events and who acted.\n\n{{incident_notes}}',
      'root_cause_analysis < timeline': 'Ask why until the causes are reached. Tell causes from what made it worse.\n\n{{timeline}}',
      'postmortem_report < timeline, root_cause_analysis':
        'Write a report that blames nobody: summary, impact, timeline, causes, what went well, actions with owners.\n\n{{timeline}}\n\n{{root_cause_analysis}}',
    },
  },
  {
    id: 'refactor-plan',
    category: 'engineering',
    en: ['Refactoring plan', 'What is wrong, what is worth it, and in which steps'],
    zh: ['重构计划', '问题、价值与步骤'],
    parameters: { '!code': 'The code', 'context=': 'What it belongs to' },
    steps: {
      smell_analysis: 'List what makes this code hard to change, each with its place. {{context}}\n\n{{code}}',
      'prioritised_opportunities < smell_analysis': 'Order these by gain against effort and risk.\n\n{{smell_analysis}}',
      'migration_plan < prioritised_opportunities': 'Write a plan in small steps, each of which leaves the code working and tested.\n\n{{prioritised_opportunities}}',
    },
  },
  {
    id: 'test-generation',
    category: 'engineering',
    en: ['Tests for code', 'What it does, its edges, and tests for both'],
    zh: ['生成测试', '功能、边界与相应测试'],
    parameters: { '!code': 'The code', 'language=detect it': 'Its language', 'context=': 'Test framework and habits' },
    steps: {
      code_analysis: 'Say what this code ({{language}}) promises: inputs, results, errors, effects. {{context}}\n\n{{code}}',
      'edge_cases < code_analysis': 'List edge cases and wrong inputs that a test should try.\n\n{{code_analysis}}',
      'test_suite < code_analysis, edge_cases': 'Write the tests, one claim in each, with names that say it. {{context}}\n\n{{code_analysis}}\n\n{{edge_cases}}',
    },
  },
];
