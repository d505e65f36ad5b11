/**
 * Tests that each error in a component has a location, whether in the script, the template, a prop,
 * or an event.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkComponents } from '../../scripts/lib/components.mjs'
import { afterTest } from '../support'
import { root } from '../services/support'

const child = `<script setup lang="ts">
defineProps<{ label: string }>()
const emit = defineEmits<{ go: [by: number] }>()
</script>

<template>
  <button @click="emit('go', 1)">{{ label }}</button>
</template>
`

const parent = `<script setup lang="ts">
import ChildPart from './ChildPart.vue'

const props = defineProps<{ title: string }>()
const emit = defineEmits<{ done: [by: number] }>()
const count: number = props.title
emit('done', 'text')
</script>

<template>
  <p>{{ title.toFixed(2) }} {{ missing }} {{ count }}</p>
  <ChildPart :label="3" @go="(by: string) => by" />
  <ChildPart label="fine" @go="(by: number) => by" />
  <p v-for="letter in title" :key="letter" @click="letter.nothing">{{ letter }}</p>
</template>
`

/** Returns a component's errors without their messages. */
async function faultsOf(files: Record<string, string>): Promise<string[]> {
  mkdirSync(join(root, '.cache'), { recursive: true })
  const base = mkdtempSync(join(root, '.cache', 'components-'))
  afterTest(() => {
    rmSync(base, { recursive: true })
  })
  const config = {
    extends: '../../tsconfig.web.json',
    include: ['src-renderer/**/*.vue'],
  }
  writeFileSync(join(base, 'tsconfig.web.json'), JSON.stringify(config))
  mkdirSync(join(base, 'src-renderer'))
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(base, 'src-renderer', name), text)
  const messages = await checkComponents(base)
  return messages.map((text) => /^.*?TS\d+/.exec(text)?.[0] ?? text)
}

it('the type check reports every fault of a component at its line and column', async () => {
  expect(await faultsOf({ 'ChildPart.vue': child, 'ParentPart.vue': parent })).toEqual([
    'src-renderer/ParentPart.vue(6,7): error TS2322',
    'src-renderer/ParentPart.vue(7,14): error TS2345',
    'src-renderer/ParentPart.vue(11,15): error TS2551',
    'src-renderer/ParentPart.vue(11,32): error TS2339',
    'src-renderer/ParentPart.vue(12,14): error TS2322',
    'src-renderer/ParentPart.vue(12,26): error TS2322',
    'src-renderer/ParentPart.vue(14,59): error TS2339',
  ])
})

it('the type check reports nothing for components without faults', async () => {
  expect(await faultsOf({ 'ChildPart.vue': child })).toEqual([])
})
