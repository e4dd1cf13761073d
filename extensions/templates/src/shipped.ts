/// <reference path="./assets.d.ts" />
/** The templates that come with the program: each a manifest as a person would write it, taken in by the build. */
import academicResearcher from '../templates/academic-researcher.toml' with { type: 'text' };
import analyst from '../templates/analyst.toml' with { type: 'text' };
import architect from '../templates/architect.toml' with { type: 'text' };
import assistant from '../templates/assistant.toml' with { type: 'text' };
import codeReviewer from '../templates/code-reviewer.toml' with { type: 'text' };
import coder from '../templates/coder.toml' with { type: 'text' };
import customerSupport from '../templates/customer-support.toml' with { type: 'text' };
import dataScientist from '../templates/data-scientist.toml' with { type: 'text' };
import debugging from '../templates/debugger.toml' with { type: 'text' };
import devopsLead from '../templates/devops-lead.toml' with { type: 'text' };
import docWriter from '../templates/doc-writer.toml' with { type: 'text' };
import emailAssistant from '../templates/email-assistant.toml' with { type: 'text' };
import healthTracker from '../templates/health-tracker.toml' with { type: 'text' };
import helloWorld from '../templates/hello-world.toml' with { type: 'text' };
import homeAutomation from '../templates/home-automation.toml' with { type: 'text' };
import legalAssistant from '../templates/legal-assistant.toml' with { type: 'text' };
import meetingAssistant from '../templates/meeting-assistant.toml' with { type: 'text' };
import ops from '../templates/ops.toml' with { type: 'text' };
import orchestrator from '../templates/orchestrator.toml' with { type: 'text' };
import personalFinance from '../templates/personal-finance.toml' with { type: 'text' };
import planner from '../templates/planner.toml' with { type: 'text' };
import recipeAssistant from '../templates/recipe-assistant.toml' with { type: 'text' };
import recruiter from '../templates/recruiter.toml' with { type: 'text' };
import researcher from '../templates/researcher.toml' with { type: 'text' };
import salesAssistant from '../templates/sales-assistant.toml' with { type: 'text' };
import securityAuditor from '../templates/security-auditor.toml' with { type: 'text' };
import socialMedia from '../templates/social-media.toml' with { type: 'text' };
import testEngineer from '../templates/test-engineer.toml' with { type: 'text' };
import translator from '../templates/translator.toml' with { type: 'text' };
import travelPlanner from '../templates/travel-planner.toml' with { type: 'text' };
import tutor from '../templates/tutor.toml' with { type: 'text' };
import writer from '../templates/writer.toml' with { type: 'text' };

export const SHIPPED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'academic-researcher': academicResearcher,
    analyst,
    architect,
    assistant,
    'code-reviewer': codeReviewer,
    coder,
    'customer-support': customerSupport,
    'data-scientist': dataScientist,
    debugger: debugging,
    'devops-lead': devopsLead,
    'doc-writer': docWriter,
    'email-assistant': emailAssistant,
    'health-tracker': healthTracker,
    'hello-world': helloWorld,
    'home-automation': homeAutomation,
    'legal-assistant': legalAssistant,
    'meeting-assistant': meetingAssistant,
    ops,
    orchestrator,
    'personal-finance': personalFinance,
    planner,
    'recipe-assistant': recipeAssistant,
    recruiter,
    researcher,
    'sales-assistant': salesAssistant,
    'security-auditor': securityAuditor,
    'social-media': socialMedia,
    'test-engineer': testEngineer,
    translator,
    'travel-planner': travelPlanner,
    tutor,
    writer,
  }),
);
