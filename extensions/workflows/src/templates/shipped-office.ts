/** Templates for business and productivity. */
import type { Draft } from './shape.js';

export const OFFICE: readonly Draft[] = [
  {
    id: 'competitor-analysis',
    category: 'business',
    en: ['Competitors', 'Profiles, a comparison, and what to do about it'],
    zh: ['竞品分析', '概况、对比与策略'],
    parameters: { '!product': 'Your product', '!competitors': 'Theirs' },
    steps: {
      competitor_profiles: 'Describe each competitor of {{product}}: offer, price, customers, strengths: {{competitors}}',
      'swot_comparison < competitor_profiles': 'Compare them with {{product}}: strengths, weaknesses, chances, threats, as a table.\n\n{{competitor_profiles}}',
      'strategy_report < swot_comparison': 'Recommend what {{product}} should do in the next three, six and twelve months, and why.\n\n{{swot_comparison}}',
    },
  },
  {
    id: 'customer-support',
    category: 'business',
    en: ['Answer a customer', 'Sorts a message, drafts the answer, and says whether a person should look'],
    zh: ['客户支持', '分类、草拟回复并判断是否升级'],
    parameters: { '!customer_message': 'What they wrote', 'customer_name=Customer': 'Their name', 'product_context=': 'What one must know of the product' },
    steps: {
      classify: 'Sort this message: topic, mood, urgency, what the customer wants. {{product_context}}\n\n{{customer_message}}',
      'draft_response < classify': 'Draft an answer to {{customer_name}}: friendly, concrete, no promise that nobody made. {{product_context}}\n\nMessage: {{customer_message}}\n\n{{classify}}',
      'escalation_check < classify, draft_response': 'Should a person look at this before it goes out? Answer YES or NO in the first line, then why.\n\n{{classify}}\n\n{{draft_response}}',
    },
  },
  {
    id: 'market-research',
    category: 'business',
    en: ['Market research', 'The market, its customers, and a report'],
    zh: ['市场调研', '市场、客户与报告'],
    parameters: { '!market': 'Which market', 'business_context=': 'Your part in it' },
    steps: {
      market_landscape: 'Describe the market {{market}}: size, growth, sellers, rules, trends. {{business_context}}',
      'customer_segments < market_landscape': 'Name its groups of customers, what each needs and what each pays for.\n\n{{market_landscape}}',
      'research_report < market_landscape, customer_segments': 'Write a report of two pages with chances and risks. {{business_context}}\n\n{{market_landscape}}\n\n{{customer_segments}}',
    },
  },
  {
    id: 'product-spec',
    category: 'business',
    en: ['Product specification', 'The problem, stories of users, and the document'],
    zh: ['产品规格', '问题、用户故事与文档'],
    parameters: { '!feature_idea': 'The idea', 'context=': 'The product' },
    steps: {
      problem_definition: 'Which problem does this idea solve, for whom, and how do they live with it today? {{context}}\n\n{{feature_idea}}',
      'user_stories < problem_definition': 'Write stories of users with conditions that can be tested.\n\n{{problem_definition}}',
      'prd < problem_definition, user_stories': 'Write the specification: goal, what is left out, stories, measures, open questions.\n\n{{problem_definition}}\n\n{{user_stories}}',
    },
  },
  {
    id: 'job-application',
    category: 'productivity',
    en: ['Job application', 'Reads the posting, adapts the résumé, writes the letter, prepares the interview'],
    zh: ['求职申请', '分析职位、调整简历、写信与面试准备'],
    parameters: { '!job_posting': 'The posting', '!resume': 'Your résumé' },
    steps: {
      job_analysis: 'What does this employer need, say and not say?\n\n{{job_posting}}',
      'resume_tailoring < job_analysis': 'Adapt the résumé to it. Invent nothing.\n\nRésumé: {{resume}}\n\n{{job_analysis}}',
      'cover_letter < job_analysis': 'Write a letter of one page from this résumé for it.\n\nRésumé: {{resume}}\n\n{{job_analysis}}',
      'interview_prep < job_analysis, resume_tailoring': 'List ten questions that will come, each with an answer from the résumé.\n\n{{job_analysis}}\n\n{{resume_tailoring}}',
    },
  },
  {
    id: 'learning-plan',
    category: 'productivity',
    en: ['Learning plan', 'What is missing, the way there, and the first week'],
    zh: ['学习计划', '差距、路线与第一周'],
    parameters: { '!skill': 'What to learn', 'current_level=beginner': 'Where you are', 'goal=use it at work': 'Where to', 'time_available=five hours a week': 'How much time' },
    steps: {
      gap_analysis: 'What lies between {{current_level}} and this goal in {{skill}}: {{goal}}?',
      'roadmap < gap_analysis': 'Make a way there with {{time_available}}: stages, exercises, how to see that a stage is done.\n\n{{gap_analysis}}',
      'week1_plan < roadmap': 'Plan the first week day by day with {{time_available}}.\n\n{{roadmap}}',
    },
  },
  {
    id: 'meeting-summary',
    category: 'productivity',
    en: ['Meeting', 'A summary, what to do, and a letter to all'],
    zh: ['会议纪要', '纪要、待办与跟进邮件'],
    parameters: { '!notes': 'Notes or a transcript', 'meeting_context=': 'Who met, and why' },
    steps: {
      structured_summary: 'Summarise this meeting: topics, decisions with reasons, open questions. {{meeting_context}}\n\n{{notes}}',
      'action_items < structured_summary': 'List what is to do: task, who, until when. Write "nobody" where nobody was named.\n\n{{structured_summary}}',
      'followup_email < structured_summary, action_items': 'Write a short letter to all who were there.\n\n{{structured_summary}}\n\n{{action_items}}',
    },
  },
  {
    id: 'weekly-report',
    category: 'productivity',
    en: ['Weekly report', 'From notes to a report'],
    zh: ['周报', '从笔记到报告'],
    parameters: { '!work_notes': 'What was done', 'team_or_role=': 'Whose report', 'audience=manager': 'Who reads it' },
    steps: {
      extract: 'Take results, problems, numbers and next steps from these notes. {{team_or_role}}\n\n{{work_notes}}',
      'report_writer < extract': 'Write a report of half a page for {{audience}}: results first, then problems, then next week.\n\n{{extract}}',
    },
  },
];
