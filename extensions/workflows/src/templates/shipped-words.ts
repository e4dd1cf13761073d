/** Templates for texts, thinking and research. */
import type { Draft } from './shape.js';

export const WORDS: readonly Draft[] = [
  {
    id: 'blog-post',
    category: 'creation',
    en: ['Blog post', 'Research, outline, draft, and words that people search for'],
    zh: ['博客文章', '调研、提纲、草稿与搜索优化'],
    parameters: { '!topic': 'What it is about', 'audience=curious readers': 'Who reads it', 'tone=friendly': 'How it sounds' },
    steps: {
      research: 'Collect facts, numbers and examples about {{topic}} for {{audience}}. Say which are uncertain.',
      'outline < research': 'Make an outline of a post about {{topic}}: one idea a section, in an order that draws {{audience}} on.\n\n{{research}}',
      'draft < outline, research': 'Write the post. Tone: {{tone}}. Use these facts alone.\n\nOutline: {{outline}}\n\nFacts: {{research}}',
      'seo_optimise < draft': 'Improve title, headings and first sentences so that people who search find it. Add a description of 150 characters.\n\n{{draft}}',
    },
  },
  {
    id: 'content-pipeline',
    category: 'creation',
    en: ['Article', 'Researcher, outline, writer and editor'],
    zh: ['文章流程', '调研、提纲、写作与编辑'],
    parameters: { '!topic': 'What it is about', 'audience=general readers': 'Who reads it', 'word_count=800-1200 words': 'Its length', 'tone=informative': 'How it sounds' },
    steps: {
      researcher: 'Collect what {{audience}} should know about {{topic}}, with sources where you have them.',
      'outline < researcher': 'Make an outline for {{word_count}}.\n\n{{researcher}}',
      'writer < outline, researcher': 'Write the article. Length: {{word_count}}. Tone: {{tone}}.\n\n{{outline}}\n\n{{researcher}}',
      'editor < writer': 'Edit it: shorten, correct, keep the voice. Answer with the article alone.\n\n{{writer}}',
    },
  },
  {
    id: 'content-review',
    category: 'creation',
    en: ['Text with two reviews', 'A draft, reviewed for quality and for facts, then finished'],
    zh: ['双重审阅', '草稿经质量与事实审阅后定稿'],
    parameters: { '!topic': 'What it is about', 'tone=formal': 'How it sounds', 'word_count=500': 'Words' },
    steps: {
      draft: 'Write about {{topic}} in some {{word_count}} words. Tone: {{tone}}.',
      'review_quality < draft': 'Review how this reads: order, clarity, length, tone. List what to change.\n\n{{draft}}',
      'review_accuracy < draft': 'Review what this claims: what is wrong, doubtful or without a reason. List it.\n\n{{draft}}',
      'final_edit < review_quality, review_accuracy': 'Write the final text.\n\nDraft: {{draft}}\n\nReviews: {{review_quality}}\n\n{{review_accuracy}}',
    },
  },
  {
    id: 'brainstorm',
    category: 'thinking',
    en: ['Brainstorm', 'Many ideas, rated, and a plan for the best'],
    zh: ['头脑风暴', '大量想法、评估与最佳方案'],
    parameters: { '!challenge': 'What needs ideas' },
    steps: {
      idea_generator: 'Give fifteen different ideas for this, odd ones among them, a sentence each: {{challenge}}',
      'evaluator < idea_generator': 'Rate each idea for effect, effort and risk. Choose three and say why.\n\n{{idea_generator}}',
      'action_planner < evaluator': 'Make a plan for the best one: first step this week, then a month, and how to see whether it works.\n\n{{evaluator}}',
    },
  },
  {
    id: 'decision-matrix',
    category: 'thinking',
    en: ['Decision', 'Criteria, points, and a recommendation'],
    zh: ['决策矩阵', '标准、评分与建议'],
    parameters: { '!decision': 'What is to be decided', '!options': 'Between what' },
    steps: {
      criteria: 'Name five to eight criteria for this decision, with weights that add up to 100: {{decision}}\nOptions: {{options}}',
      'scoring < criteria': 'Rate each option by each criterion from 1 to 5, as a table with weighted sums.\nOptions: {{options}}\n\n{{criteria}}',
      'recommendation < scoring': 'Recommend one, say what would change your mind, and how to try it at low cost.\n\n{{scoring}}',
    },
  },
  {
    id: 'research',
    category: 'research',
    en: ['Research', 'For and against side by side, checked, then summarised'],
    zh: ['研究', '正反两面、核查与总结'],
    parameters: { '!topic': 'The question', 'depth=standard': 'How deep', 'audience=general readers': 'Who reads it' },
    steps: {
      research_primary: 'Research {{topic}} (depth: {{depth}}): what is known, by whom, since when.',
      research_counter: 'Research what speaks against the usual view of {{topic}}: other findings, doubts, open questions.',
      'fact_check < research_primary, research_counter': 'Check both: where do they contradict each other, and what is the evidence?\n\n{{research_primary}}\n\n{{research_counter}}',
      'summarise < fact_check': 'Summarise for {{audience}}: answer first, then reasons, then what stays open.\n\n{{fact_check}}',
    },
  },
  {
    id: 'translate-polish',
    category: 'language',
    en: ['Translation', 'Translated, translated back, then polished'],
    zh: ['翻译润色', '翻译、回译与润色'],
    parameters: { '!source_text': 'The text', 'target_language=English, or Chinese where the text is English': 'Into which language', 'register=as in the original': 'How it sounds' },
    steps: {
      translate: 'Translate into {{target_language}}. Register: {{register}}. Answer with the translation alone.\n\n{{source_text}}',
      'back_translate < translate': 'Translate this back as literally as you can, without looking at the original.\n\n{{translate}}',
      'review_and_polish < translate, back_translate':
        'Where does the way back differ in meaning from the original? Correct the translation and polish it. Answer with it alone.\n\nOriginal: {{source_text}}\n\nTranslation: {{translate}}\n\nBack: {{back_translate}}',
    },
  },
];
