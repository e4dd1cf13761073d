/** Skills that come with svc. They cost a prompt nothing: a person calls them by name. */

export const BUNDLED: readonly string[] = [
  `---
name: skill-writing
description: Write a new skill, or improve one. Explains the format, what belongs into the description, and how to test it.
version: "1.0.0"
author: svc
license: MIT
tags: [writing]
disable-model-invocation: true
---
# Write a skill

A skill is a folder with a file SKILL.md. The file has front matter and instructions:

    ---
    name: release-notes
    description: Write release notes from a list of commits. Use it when somebody asks for a changelog or for release notes.
    ---
    1. Read the commits since the last tag.
    2. …

## The description
It is all that an agent sees until it loads the skill. Say what the skill does and when to use it, with the words that people use. One or two sentences are enough. Quote it if it contains a colon.

## The instructions
- Address the agent. One step is one line.
- Say what the result looks like, and show one example.
- Say what to do when a step fails.
- Keep long reference texts in references/, and name them where they are needed.
- Put programs into scripts/, and say how to call them. They run in a sandbox.

## Before you install it
1. \`svc skills check FOLDER\` shows what svc reads, and what it warns of.
2. \`svc skills install FOLDER\` installs it.
3. Ask an agent a question that the skill is for, and look at the run: did it load the skill?
`,
];
