/**
 * Configures ESLint for Vue's own rules, which apply to components and UI modules. Oxlint
 * (.oxlintrc.json) checks everything else, including the scripts of components.
 */
import prettier from 'eslint-config-prettier'
import vue from 'eslint-plugin-vue'
import typescript from 'typescript-eslint'

// Leave this list empty: no rule needs the type definitions of the standard libraries.
const lib = []

export default [
  { ignores: ['**/*.d.ts'] },
  ...vue.configs['flat/recommended'],
  { files: ['**/*.ts'], languageOptions: { parser: typescript.parser, parserOptions: { lib } } },
  {
    files: ['**/*.vue'],
    plugins: { '@typescript-eslint': typescript.plugin },
    languageOptions: { parserOptions: { parser: typescript.parser, lib } },
    rules: {
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/multi-word-component-names': 'off',
      'vue/no-v-html': 'error',
      'vue/require-default-prop': 'off',
      // ESLint's Vue parser tells these two rules which names the template uses and assigns.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      'prefer-const': 'error',
    },
  },
  prettier,
]
